/** The Link header of a list (RFC 8288): where its other pages are. */
import { paginate } from '../contract/page.ts'
import type { DataAnswer } from './route.ts'

export function linkHeader(
  path: string,
  query: Record<string, unknown>,
  page: NonNullable<DataAnswer['page']>,
): string {
  const { pages } = paginate(page, page.total)
  const last = Math.max(pages, 1)
  const targets: [string, number][] = [
    ['first', 1],
    ...(page.page > 1 ? [['prev', Math.min(page.page - 1, last)] as [string, number]] : []),
    ...(page.page < last ? [['next', page.page + 1] as [string, number]] : []),
    ['last', last],
  ]
  return targets.map(([rel, number]) => `<${path}?${search({ ...query, page: number })}>; rel="${rel}"`).join(', ')
}

function search(query: Record<string, unknown>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
}
