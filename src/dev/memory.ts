// Ends a workerd whose isolate holds more memory than Cloudflare allows one: workerd itself has no such limit, but its
// inspector tells how much there is.

export type MemoryOptions = {
  /** Where workerd's inspector listens. */
  port: number
  /** Bytes: the heap of JavaScript, and what buffers and WebAssembly hold beside it. */
  limit: number
  onFull: (bytes: number) => void
}

type Target = { webSocketDebuggerUrl: string }
type Usage = { usedSize: number; embedderHeapUsedSize?: number; backingStorageSize?: number }
type Inspector = { ask: <T>(method: string) => Promise<T>; isOpen: () => boolean }

/** The Worker among the isolates of miniflare. */
const USER = /\/core:user:/

/** A conversation with the inspector of the Worker's isolate: one question, one answer. */
async function connect(port: number): Promise<Inspector> {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as Target[]
  const target = targets.find(({ webSocketDebuggerUrl }) => USER.test(webSocketDebuggerUrl))
  if (!target) throw new Error('workerd has no Worker yet')
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let asked = 0
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id: number; result?: unknown }
    waiting.get(id)?.resolve(result)
    waiting.delete(id)
  }
  socket.onclose = () => {
    for (const { reject } of waiting.values()) reject(new Error('workerd has ended'))
  }
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve()
    socket.onerror = () => reject(new Error('workerd has no inspector'))
  })
  return {
    ask<T>(method: string): Promise<T> {
      const answer = Promise.withResolvers<unknown>()
      waiting.set(++asked, answer)
      socket.send(JSON.stringify({ id: asked, method }))
      return answer.promise as Promise<T>
    },
    isOpen: () => socket.readyState === WebSocket.OPEN,
  }
}

const sizeOf = ({ usedSize, embedderHeapUsedSize = 0, backingStorageSize = 0 }: Usage): number =>
  usedSize + embedderHeapUsedSize + backingStorageSize

/**
 * Looks once; what it answers is to be called now and then. What is garbage does not count: it is collected before a
 * verdict.
 *
 * @example setInterval(createMemoryWatch({ port, limit: 128 * 1024 * 1024, onFull }), 500)
 */
export function createMemoryWatch({ port, limit, onFull }: MemoryOptions) {
  let inspector: Inspector | undefined
  let isAsking = false

  async function used(): Promise<number> {
    if (!inspector?.isOpen()) inspector = await connect(port)
    return sizeOf(await inspector.ask<Usage>('Runtime.getHeapUsage'))
  }

  async function judge(): Promise<void> {
    if ((await used()) <= limit) return
    await inspector!.ask('HeapProfiler.collectGarbage')
    const held = await used()
    if (held > limit) onFull(held)
  }

  return async function look(): Promise<void> {
    if (isAsking) return
    isAsking = true
    // One that is just starting, or has ended, holds nothing.
    await judge().catch(() => undefined)
    isAsking = false
  }
}
