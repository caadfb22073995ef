// The one set-up step: brings the programs that the tests drive onto the machine, or says how to.
// Silent when all are there. It never lets a test run go on without them.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { findChromium, findCurl, findPostgresBin, findStrace } from './programs.ts'

interface Program {
  name: string
  find: () => string | undefined
  debian: string
  brew: string
}

const PROGRAMS: readonly Program[] = [
  { name: 'Chromium', find: findChromium, debian: 'chromium', brew: '--cask chromium' },
  { name: 'PostgreSQL', find: findPostgresBin, debian: 'postgresql', brew: 'postgresql' },
  { name: 'curl', find: findCurl, debian: 'curl', brew: 'curl' },
  { name: 'strace', find: findStrace, debian: 'strace', brew: '' },
]

const CLUSTER_CONF = '/etc/postgresql-common/createcluster.conf'

// strace exists on Linux only; the tests that trace system calls do too.
const needed = PROGRAMS.filter((program) => program.brew || process.platform === 'linux')

const missingPrograms = () => needed.filter((program) => !program.find())

function hasAptGet(): boolean {
  return process.platform === 'linux' && spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status === 0
}

function run(command: string, args: string[]): void {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: Number.POSITIVE_INFINITY,
  })
  if (status === 0) return
  throw new Error(`${command} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}\n${stdout}${stderr}`)
}

function aptInstall(packages: string[]): void {
  run('apt-get', ['-o', 'DPkg::Lock::Timeout=300', 'install', '--yes', '--no-install-recommends', ...packages])
}

// Debian's package starts a server of its own; the tests start and stop theirs.
function keepServerOff(): void {
  mkdirSync('/etc/postgresql-common', { recursive: true })
  const rest = readFileSync(CLUSTER_CONF, { encoding: 'utf8', flag: 'a+' }).replace(
    /^#?\s*create_main_cluster.*\n?/gm,
    '',
  )
  writeFileSync(CLUSTER_CONF, `${rest}${rest && !rest.endsWith('\n') ? '\n' : ''}create_main_cluster = false\n`)
}

function installOnDebian(missing: readonly Program[]): void {
  const packages = missing.map((program) => program.debian)
  console.error(`setup: installing ${packages.join(', ')} with apt-get (once on this machine)`)
  run('apt-get', ['-o', 'DPkg::Lock::Timeout=300', 'update'])
  if (packages.includes('postgresql')) {
    aptInstall(['postgresql-common'])
    keepServerOff()
  }
  aptInstall(packages)
}

function howToInstall(program: Program, debian: boolean): string {
  if (debian) return `sudo apt-get install --no-install-recommends ${program.debian}`
  if (process.platform === 'darwin') return `brew install ${program.brew}`
  return `install the package that Debian calls "${program.debian}" with this system's package manager`
}

function setUp(): void {
  const missing = missingPrograms()
  if (missing.length === 0) return
  const debian = hasAptGet()
  if (debian && process.getuid?.() === 0) installOnDebian(missing)
  const still = missingPrograms()
  if (still.length === 0) return
  const lines = still.map((program) => `  ${program.name}: ${howToInstall(program, debian)}`)
  const together = debian ? '\nAll of them at once: sudo npm run setup' : ''
  throw new Error(`the tests need programs that are missing here:\n${lines.join('\n')}${together}`)
}

try {
  setUp()
} catch (error) {
  console.error(`setup: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
