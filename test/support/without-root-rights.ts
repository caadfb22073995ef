// Root may read and write everything, which hides what a service without such rights meets.
// The same user without that one privilege still reaches the checkout, wherever it lies.
const DROPPED = '-dac_override,-dac_read_search'

/** A command to put in front of another one; nothing when the tests do not run as root anyway. */
export const withoutRootRights: string[] =
  process.getuid?.() === 0 ? ['setpriv', `--bounding-set=${DROPPED}`, `--inh-caps=${DROPPED}`] : []
