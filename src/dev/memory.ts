// Only the inspector reports the memory of an isolate.

type MemoryOptions = {
  port: number
  /** Bytes of the JavaScript heap, buffers and WebAssembly. */
  limit: number
  onFull: (bytes: number) => void
}

type Target = { webSocketDebuggerUrl: string }
type Usage = { usedSize: number; embedderHeapUsedSize?: number; backingStorageSize?: number }
type Inspector = { ask: <T>(method: string) => Promise<T>; isOpen: () => boolean }

const USER = /\/core:user:/

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
    socket.onerror = () => reject(new Error('cannot connect to the inspector of workerd'))
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
    // Ignores errors, because the inspector does not answer while an isolate starts or ends.
    await judge().catch(() => undefined)
    isAsking = false
  }
}
