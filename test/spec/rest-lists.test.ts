// Lists: pages, limits, and the way from one page to the next.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DEFAULT_DEFINITION } from '../../src/contract/agent.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { outcome, refusal } from '../support/rest-calls.ts'
import { proves } from './proves.ts'

/** Straight into the store: a hundred HTTP requests less. */
async function fill(app: TestApp, count: number): Promise<number[]> {
  const environment_id = Number((await app.store.environments.find('default'))?.id)
  const created = Array.from({ length: count }, (_, index) => {
    const definition = { ...DEFAULT_DEFINITION, name: `agent ${index}`, prompt: 'x', variables: [] }
    return app.store.write('createAgent', { environment_id, definition, source: 'api', file: null, at: Date.now() })
  })
  return (await Promise.all(created)).map(({ id }) => id)
}

/** The targets of a Link header by relation. */
function relations(header: string | null): Record<string, URL> {
  const links = [...(header ?? '').matchAll(/<([^>]*)>; rel="([a-z]+)"/g)]
  return Object.fromEntries(links.map(([, target, rel]) => [rel, new URL(target ?? '', 'http://localhost:8585')]))
}

const ids = (data: { id: number }[]) => data.map(({ id }) => id)

describe('a list', () => {
  proves(['rest.pagination', 'rest.link'], 'has pagination and Link, whatever it lists', async () => {
    await using app = await startApp()
    const [id] = await fill(app, 1)
    for (const path of ['/agents', `/agents/${id}/versions`, '/environments']) {
      const { body, headers } = await app.api('GET', path)
      expect(Object.keys(body.pagination).sort(), path).toEqual(['limit', 'page', 'pages', 'total'])
      expect(Object.values(body.pagination).every(Number.isInteger), path).toBe(true)
      expect(body.pagination, path).toMatchObject({ page: 1, total: 1, pages: 1 })
      expect(relations(headers.get('link')), path).toMatchObject({ first: expect.any(URL), last: expect.any(URL) })
    }
  })

  proves(['rest.page', 'rest.limit', 'rest.limit-environments'], 'starts at page 1 with its own limit', async () => {
    await using app = await startApp()
    const all = await fill(app, 21)
    const { body } = await app.api('GET', '/agents')
    expect(body.pagination).toEqual({ page: 1, limit: 20, total: 21, pages: 2 })
    expect(ids(body.data)).toEqual(all.slice(0, 20))
    const page1 = await app.api('GET', '/agents?page=1')
    expect(page1.body).toEqual(body)
    expect(ids((await app.api('GET', '/agents?page=2')).body.data)).toEqual(all.slice(20))
    expect((await app.api('GET', `/agents/${all[0]}/versions`)).body.pagination.limit).toBe(20)
    expect((await app.api('GET', '/environments')).body.pagination.limit).toBe(100)
  })

  proves('rest.limit-cap', 'gives at most 100 and says so', async () => {
    await using app = await startApp()
    await fill(app, 101)
    for (const limit of [100, 101, 1000, Number.MAX_SAFE_INTEGER]) {
      const { body, headers } = await app.api('GET', `/agents?limit=${limit}`)
      expect(body.pagination).toEqual({ page: 1, limit: 100, total: 101, pages: 2 })
      expect(body.data).toHaveLength(100)
      expect(relations(headers.get('link')).next?.searchParams.get('limit')).toBe('100')
    }
    expect((await app.api('GET', '/environments?limit=500')).body.pagination.limit).toBe(100)
  })

  const wrong = [
    '0',
    '-1',
    '-0',
    '1.5',
    '1.0',
    '1e1',
    '01',
    '0x1',
    '',
    'abc',
    'null',
    'Infinity',
    '9007199254740992',
    '%zz',
  ]

  proves('rest.bad-page', 'refuses a page or limit that is no positive integer', async () => {
    await using app = await startApp()
    for (const path of ['/agents', '/environments']) {
      for (const value of wrong) {
        for (const name of ['page', 'limit']) {
          const answer = await app.api('GET', `${path}?${name}=${value}`)
          expect(outcome(answer), `${name}=${value}`).toEqual(refusal(400, 'INVALID_REQUEST'))
          expect(answer.body.error.message).toContain(name)
        }
      }
    }
    const both = await app.api('GET', '/agents?page=0&limit=x')
    expect(both.body.error.details).toHaveLength(2)
  })

  proves(
    ['rest.past-the-end', 'rest.pages-when-empty'],
    'is empty past its end, and has no pages when empty',
    async () => {
      await using app = await startApp()
      const empty = await app.api('GET', '/agents')
      expect(empty).toMatchObject({
        status: 200,
        body: { data: [], pagination: { page: 1, limit: 20, total: 0, pages: 0 } },
      })
      await fill(app, 3)
      for (const page of [2, 1000, Number.MAX_SAFE_INTEGER]) {
        const past = await app.api('GET', `/agents?page=${page}&limit=100`)
        expect(past).toMatchObject({ status: 200, body: { data: [], pagination: { page, total: 3, pages: 1 } } })
        const { prev, next } = relations(past.headers.get('link'))
        expect(next).toBeUndefined()
        expect(prev?.searchParams.get('page')).toBe('1')
      }
    },
  )

  proves('rest.unknown-query', 'ignores query parameters it does not know', async () => {
    await using app = await startApp()
    await fill(app, 2)
    const plain = (await app.api('GET', '/agents')).body
    for (const query of ['colour=red', 'Page=0', 'limit[]=0', '__proto__=1', 'constructor=1', '&&=', 'offset=1']) {
      const answer = await app.api('GET', `/agents?${query}`)
      expect(outcome(answer), query).toEqual({ status: 200, body: plain })
    }
    expect(await app.api('GET', '/health?page=0')).toMatchObject({ status: 200 })
  })

  proves('rest.link', 'keeps its filters in Link, encoded', async () => {
    await using app = await startApp()
    await fill(app, 5)
    const q = 'agent '
    const { headers } = await app.api('GET', `/agents?environment=default&limit=2&q=${encodeURIComponent(q)}`)
    const { next, last } = relations(headers.get('link'))
    expect(Object.fromEntries(next?.searchParams ?? [])).toEqual({ environment: 'default', limit: '2', page: '2', q })
    expect(last?.searchParams.get('page')).toBe('3')
    const followed = await app.api('GET', `/${next?.pathname}${next?.search}`)
    expect(followed.body.data).toHaveLength(2)
  })

  test('a Link cannot be broken out of by a filter', async () => {
    await using app = await startApp()
    await fill(app, 3)
    const nasty = 'a>; rel="evil", <http://evil.test/'
    const { headers } = await app.api('GET', `/agents?q=${encodeURIComponent(nasty)}`)
    expect(Object.keys(relations(headers.get('link'))).sort()).toEqual(['first', 'last'])
    expect(relations(headers.get('link')).first?.searchParams.get('q')).toBe(nasty)
  })
})

describe('pages of any size', () => {
  proves(['rest.pagination', 'rest.link', 'agents.list'], 'follow each other without gap or overlap', async () => {
    await using app = await startApp()
    const known: number[] = []
    const parameters = fc.record({
      more: fc.integer({ min: 0, max: 12 }),
      limit: fc.integer({ min: 1, max: 130 }),
      start: fc.integer({ min: 1, max: 9 }),
    })
    await fc.assert(
      fc.asyncProperty(parameters, async ({ more, limit, start }) => {
        known.push(...(await fillMore(app, known.length, more)))
        const served = Math.min(limit, 100)
        const pages = Math.ceil(known.length / served)
        const { body, headers } = await app.api('GET', `/agents?page=${start}&limit=${limit}`)
        expect(body.pagination).toEqual({ page: start, limit: served, total: known.length, pages })
        expect(ids(body.data)).toEqual(known.slice((start - 1) * served, start * served))
        const { first, prev, next, last } = relations(headers.get('link'))
        const page = (target: URL | undefined) => target && Number(target.searchParams.get('page'))
        const end = Math.max(pages, 1)
        expect([page(first), page(last)]).toEqual([1, end])
        expect(page(prev)).toBe(start > 1 ? Math.min(start - 1, end) : undefined)
        expect(page(next)).toBe(start < end ? start + 1 : undefined)
      }),
      { numRuns: 60 },
    )
    expect(await walk(app, 7)).toEqual(known)
  })
})

async function fillMore(app: TestApp, from: number, count: number): Promise<number[]> {
  const environment_id = Number((await app.store.environments.find('default'))?.id)
  const made: number[] = []
  for (let index = from; index < from + count; index++) {
    const definition = { ...DEFAULT_DEFINITION, name: `more ${index}`, prompt: 'x', variables: [] }
    const input = { environment_id, definition, source: 'api' as const, file: null, at: Date.now() }
    made.push((await app.store.write('createAgent', input)).id)
  }
  return made
}

/** From the first page to the last by nothing but the next links. */
async function walk(app: TestApp, limit: number): Promise<number[]> {
  const seen: number[] = []
  let path: string | undefined = `/agents?limit=${limit}`
  while (path) {
    const { body, headers }: Awaited<ReturnType<TestApp['api']>> = await app.api('GET', path)
    seen.push(...ids(body.data))
    const next: URL | undefined = relations(headers.get('link')).next
    path = next && `/${next.pathname}${next.search}`
  }
  return seen
}
