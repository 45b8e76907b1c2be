// How work is handed out: by so many callers, each of which waits for its answer before it asks again.

/** @example await inTurns(chunks, 4, (jobs) => client.jobs.enqueue(jobs)) */
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
