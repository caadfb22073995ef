/** One testable statement: its section in the product's specification or decisions, and what it says. */
interface Rule {
  from: string
  says: string
}

export type Rules = Record<string, Rule>
