// The system's Chromium, driven by playwright-core: nothing is downloaded, nothing calls home.
import { type Browser, chromium } from 'playwright-core'
import { chromiumPath } from '../../scripts/programs.ts'

const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** The browser closes itself at the end of an `await using` block. */
export function launchBrowser(extraArgs: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath(), args: [...QUIET, ...extraArgs] })
}
