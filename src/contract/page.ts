/** How lists are cut into pages. */
import { z } from 'zod'

const MAX_LIMIT = 100

/** Above the maximum the maximum is served, and shown so in the answer. */
export const pageQuery = (defaultLimit: number) => ({
  page: z.int().min(1).default(1),
  limit: z
    .int()
    .min(1)
    .default(defaultLimit)
    .transform((limit) => Math.min(limit, MAX_LIMIT))
    .meta({ description: `Items on a page; more than ${MAX_LIMIT} is served as ${MAX_LIMIT}.` }),
})

/** A part of a text to look for. */
export const searchText = z
  .string()
  .max(1000)
  .refine((text) => !text.includes('\0'), 'must not have a NUL character')

export const pagination = z
  .object({
    page: z.int().positive(),
    limit: z.int().positive(),
    total: z.int().nonnegative().meta({ description: 'Items in all.' }),
    pages: z.int().nonnegative().meta({ description: 'Pages in all; 0 when there is nothing.' }),
  })
  .meta({ id: 'Pagination' })

export interface PageRequest {
  page: number
  limit: number
}

/** One page of a list, with the number of items in all. */
export interface Page<T> {
  items: T[]
  total: number
}

export type Pagination = z.infer<typeof pagination>

export const paginate = ({ page, limit }: PageRequest, total: number): Pagination => ({
  page,
  limit,
  total,
  pages: Math.ceil(total / limit),
})
