export async function inTurns<T>(
  items: readonly T[],
  callers: number,
  call: (item: T) => Promise<unknown>,
): Promise<void> {
  const left = items.values()
  const caller = async () => {
    for (const item of left) await call(item)
  }
  await Promise.all(Array.from({ length: callers }, caller))
}

export const chunksOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))

export async function lone(n: number, one: () => Promise<number>): Promise<number[]> {
  const took: number[] = []
  for (let i = 0; i < n; i++) took.push(await one())
  return took
}

export async function trickle(rate: number, seconds: number, one: () => Promise<number>): Promise<number[]> {
  const began = performance.now()
  const took: Promise<number>[] = []
  for (let i = 0; i < rate * seconds; i++) {
    const due = began + (i * 1_000) / rate - performance.now()
    if (due > 0) await new Promise((resolve) => setTimeout(resolve, due))
    took.push(one())
  }
  return Promise.all(took)
}
