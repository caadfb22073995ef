/** Prices of models as an operator writes them: a mapping in config.yaml, JSON in the variable. */
import { z } from 'zod'

/** USD per million tokens. */
export interface Price {
  readonly input: number
  readonly output: number
}

const EXAMPLE = '{"openai/gpt-5": {"input": 1.25, "output": 10}}'
const FORM = `must map models to their prices in USD per million tokens, such as ${EXAMPLE}`

const amount = z.number().nonnegative()
const price = z.strictObject({ input: amount, output: amount })

export const prices = () =>
  z.preprocess(fromJson, z.record(z.string().min(1), z.unknown(), { error: FORM }).transform(checked))

/** What is not JSON stays text, for the schema to refuse. */
function fromJson(given: unknown): unknown {
  if (typeof given !== 'string') return given
  try {
    return JSON.parse(given)
  } catch {
    return given
  }
}

/** One by one, so that the message can name the model. */
function checked(given: Record<string, unknown>, context: z.RefinementCtx): Record<string, Price> {
  return Object.fromEntries(
    Object.entries(given).map(([model, value]) => {
      const found = price.safeParse(value)
      if (found.success) return [model, found.data]
      context.addIssue(`needs input and output of ${JSON.stringify(model)} as numbers of at least 0, and nothing else`)
      return [model, { input: 0, output: 0 }]
    }),
  )
}
