/** Time crosses the wire as ISO 8601 UTC with milliseconds; inside it is a number of milliseconds. */
import { z } from 'zod'

export const time = z.iso
  .datetime({ precision: 3 })
  .meta({ description: 'ISO 8601, UTC, with milliseconds.', examples: ['2026-11-15T07:30:00.000Z'] })

export const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString()
