// The page at /docs as people see it.
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { proves } from '../spec/proves.ts'
import { launchBrowser } from '../support/chromium.ts'
import { startService } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

interface Paths {
  [path: string]: Record<string, { operationId: string }>
}

/** Everything the browser complains about, and everything it asks for. */
function watch(page: Page) {
  const seen = { complaints: [] as string[], requests: [] as string[] }
  page.on('console', (message) => seen.complaints.push(message.text()))
  page.on('pageerror', (error) => seen.complaints.push(error.message))
  page.on('requestfailed', (request) => seen.complaints.push(`${request.url()} failed`))
  page.on('response', (response) => {
    if (!response.ok()) seen.complaints.push(`${response.url()} ${response.status()}`)
  })
  page.on('request', (request) => seen.requests.push(request.url()))
  return seen
}

proves(
  ['docs.page', 'docs.no-outside-requests'],
  'every route is listed and opens on a click, without a complaint of the browser or a request to elsewhere',
  async () => {
    await using home = await temporaryFolder()
    await using service = await startService({ home: home.path })
    const document = await fetch(`${service.api}/api/v1/openapi.json`)
    const { paths } = (await document.json()) as { paths: Paths }
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => ({ path, method, operationId })),
    )
    expect(routes.length).toBeGreaterThan(5)

    await using browser = await launchBrowser()
    const page = await browser.newPage()
    const seen = watch(page)
    await page.goto(`${service.api}/docs`)
    expect(await page.title()).toBe('Agenthost API')
    for (const { path, method, operationId } of routes) {
      const entry = page.locator('details', { has: page.locator(`#${operationId}`) })
      expect(await entry.locator('summary').innerText()).toMatch(new RegExp(`^${method.toUpperCase()}\\s`))
      expect(await entry.locator('summary code').innerText()).toBe(path)
      expect(await entry.locator('.body').isVisible()).toBe(false)
      await entry.locator('summary').click()
      expect(await entry.locator('.body').isVisible()).toBe(true)
    }
    expect(seen.complaints).toEqual([])
    expect(seen.requests.filter((url) => new URL(url).origin !== service.api)).toEqual([])

    await page.getByRole('link', { name: 'openapi.json' }).click()
    await page.waitForURL(`${service.api}/api/v1/openapi.json`)
    expect(seen.requests.filter((url) => new URL(url).origin !== service.api)).toEqual([])
  },
)

test('the root of the REST port leads to the page', async () => {
  await using home = await temporaryFolder()
  await using service = await startService({ home: home.path })
  await using browser = await launchBrowser()
  const page = await browser.newPage()
  await page.goto(service.api)
  expect(page.url()).toBe(`${service.api}/docs`)
})

/** Ids of the entries with a part beyond the right edge, unless that part scrolls by itself. */
const OVERFLOWING = `[...new Set([...document.querySelectorAll('body *')]
  .filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5)
  .filter((element) => {
    for (let at = element.parentElement; at; at = at.parentElement)
      if (/auto|scroll/.test(getComputedStyle(at).overflowX)) return false
    return true
  })
  .map((element) => element.closest('details')?.id ?? element.tagName))]`

/** Contrast as WCAG defines it, of text to the nearest ground behind it. */
const CONTRASTS = `['h1', 'main > p', 'a', 'h2', 'summary code', '.method', 'summary span:last-child', 'h3', 'td'].map((name) => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number)
  const light = (color) => {
    const [r, g, b] = channels(color).map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const element = document.querySelector(name)
  let ground = element
  while (channels(getComputedStyle(ground).backgroundColor)[3] === 0) ground = ground.parentElement
  const [low, high] = [getComputedStyle(element).color, getComputedStyle(ground).backgroundColor].map(light).sort((a, b) => a - b)
  return { name, contrast: (high + 0.05) / (low + 0.05) }
})`

describe('on a telephone and on a desk', () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`nothing overflows with every entry open and the text is readable, ${colorScheme}`, async () => {
      await using home = await temporaryFolder()
      await using service = await startService({ home: home.path })
      await using browser = await launchBrowser()
      for (const viewport of [
        { width: 1200, height: 900 },
        { width: 360, height: 740 },
      ]) {
        const page = await browser.newPage({ viewport, colorScheme })
        await page.goto(`${service.api}/docs`)
        await page.evaluate(`document.querySelectorAll('details').forEach((entry) => { entry.open = true })`)
        await page.screenshot({ path: join(home.path, `${viewport.width}.png`), fullPage: true })
        const contrasts: { name: string; contrast: number }[] = await page.evaluate(CONTRASTS)
        expect(contrasts.filter(({ contrast }) => contrast < 4.5)).toEqual([])
        expect(await page.evaluate(OVERFLOWING), `${viewport.width} px`).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width)
      }
    })
  }

  test('light and dark are different pages', async () => {
    await using home = await temporaryFolder()
    await using service = await startService({ home: home.path })
    await using browser = await launchBrowser()
    const grounds: string[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ colorScheme })
      await page.goto(`${service.api}/docs`)
      grounds.push(await page.evaluate('getComputedStyle(document.body).backgroundColor'))
    }
    expect(new Set(grounds).size).toBe(2)
  })
})
