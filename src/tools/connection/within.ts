/** Waits for something, but not for ever, and leaves no timer behind. */

/** Whether it came in time. Why it did not come is not asked. */
export async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false)
  })
  const done = promise.then(
    () => true,
    () => true,
  )
  try {
    return await Promise.race([done, late])
  } finally {
    clearTimeout(timer)
  }
}
