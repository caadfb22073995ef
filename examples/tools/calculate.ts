// Works out what people write on paper. A parser of its own, because what a model sends must never be run as code.

/** Takes + - * / ( ) and decimals. Throws an Error that says what is wrong with the expression. */
export function calculate(expression: string): number {
  const tokens = expression.match(/\d+(?:\.\d+)?|\S/g) ?? []
  let at = 0
  const take = (...wanted: string[]) => (wanted.includes(tokens[at] ?? '') ? tokens[at++] : undefined)

  function sum(): number {
    let value = product()
    for (let sign = take('+', '-'); sign; sign = take('+', '-')) value += sign === '+' ? product() : -product()
    return value
  }

  function product(): number {
    let value = factor()
    for (let sign = take('*', '/'); sign; sign = take('*', '/')) {
      const next = factor()
      if (sign === '/' && next === 0) throw new Error('Division by zero')
      value = sign === '*' ? value * next : value / next
    }
    return value
  }

  function factor(): number {
    if (take('-')) return -factor()
    if (!take('(')) return number()
    const value = sum()
    if (!take(')')) throw new Error('A ) is missing')
    return value
  }

  function number(): number {
    const token = tokens[at++]
    if (token === undefined) throw new Error('The expression ends too early')
    if (!/^\d/.test(token)) throw new Error(`A number is expected instead of ${token}`)
    return Number(token)
  }

  const value = sum()
  if (at < tokens.length) throw new Error(`${tokens[at]} is not expected there`)
  if (!Number.isFinite(value)) throw new Error('The result is too large')
  return value
}
