/** The one shape of every REST answer. */
import { z } from 'zod'
import { type AppError, ERROR_STATUS, type ErrorCode } from '../contract/errors.ts'
import { paginate, pagination } from '../contract/page.ts'
import type { DataAnswer } from './route.ts'

export const failure = z
  .object({
    success: z.literal(false),
    data: z.null(),
    error: z.object({
      code: z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]),
      message: z.string(),
      details: z
        .array(z.object({ path: z.string().meta({ description: 'JSON Pointer.' }), message: z.string() }))
        .optional(),
      request_id: z.string(),
    }),
  })
  .meta({ id: 'Failure', description: 'What every error looks like.' })

export const success = (data: z.ZodType, list: boolean): z.ZodType =>
  z.object({
    success: z.literal(true),
    data: list ? z.array(data) : data,
    error: z.null(),
    ...(list ? { pagination } : {}),
  })

export const successBody = ({ data, page }: DataAnswer) => ({
  success: true,
  data,
  error: null,
  ...(page ? { pagination: paginate(page, page.total) } : {}),
})

export const failureBody = ({ code, message, details }: AppError, request_id: string): z.infer<typeof failure> => ({
  success: false,
  data: null,
  error: { code, message, ...(details.length > 0 ? { details: [...details] } : {}), request_id },
})
