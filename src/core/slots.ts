/** Cloudflare lets an invocation wait for six responses at once. Calls to Redis and QStash need two of these. */
const CALLS = 4

export function createSlots(most: number = CALLS) {
  const waiting: (() => void)[] = []
  let taken = 0

  function leave(): void {
    const next = waiting.shift()
    if (next) next()
    else taken--
  }

  return {
    async take() {
      if (taken < most) taken++
      else await new Promise<void>((resolve) => waiting.push(resolve))
      return leave
    },
    get wanted() {
      return taken + waiting.length
    },
    most,
  }
}

export type Slots = ReturnType<typeof createSlots>

export async function forEach<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<unknown>) {
  const rest = items.values()
  const goOn = async () => {
    for (const item of rest) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, goOn))
}
