/** One testable statement: where it stands, and what it says. */
interface Rule {
  from: string
  says: string
}

export type Rules = Record<string, Rule>
