/** A tool as the API lists it, and one call of it to try it out. */
import { z } from 'zod'
import type { Json } from './tool.ts'

/** Came through a JSON parser, so there is nothing left to check. */
const json = z.unknown() as z.ZodType<Json>

export const toolRecord = z
  .object({
    id: z.int().positive(),
    name: z.string().meta({ description: 'As agents and models see it.' }),
    server: z.string(),
    environment: z.string(),
    description: z.string(),
    input_schema: z.record(z.string(), json).meta({ description: 'JSON Schema of the arguments.' }),
    annotations: z.record(z.string(), json).meta({ description: 'What the server says about it.' }),
  })
  .meta({ id: 'Tool' })

export const toolTrial = z
  .strictObject({
    arguments: z
      .record(z.string(), json)
      .default({})
      .meta({ description: 'What the tool is called with.', examples: [{ zone: 'Europe/Berlin' }] }),
  })
  .meta({ id: 'ToolTrial' })

export const toolTrialAnswer = z
  .object({
    output: json.meta({ description: 'Text, or the JSON that the server sent.' }),
    is_error: z.boolean().meta({ description: 'The tool failed, or its server did; output says why.' }),
  })
  .meta({ id: 'ToolTrialAnswer' })

export type ToolRecord = z.infer<typeof toolRecord>
