import { type Attributes, otlpOf, type Span } from '../../core/trace.ts'

type ExporterOptions = {
  /** `/v1/traces` is appended unless the URL ends with it. */
  endpoint: string
  headers?: Readonly<Record<string, string>>
  resource: Attributes
  fetch: typeof fetch
  defer?: (work: Promise<unknown>) => unknown
  now: () => number
}

/** If more spans wait, new spans are dropped, because the memory of an invocation is limited. */
const MAX_WAITING = 2_048
const MAX_REQUEST = 512
const TIMEOUT_MS = 10_000
const PAUSE_MS = 60_000

export function createExporter({ endpoint, headers, resource, fetch, defer, now }: ExporterOptions) {
  const url = endpoint.replace(/(\/v1\/traces)?\/*$/, '/v1/traces')
  let waiting: Span[] = []
  /** If the platform cuts off the invocation that sends spans, another invocation sends after this time. */
  let sendingUntil = 0
  let pausedUntil = 0
  let dropped = 0

  function drop(spans: number, why?: string): void {
    dropped += spans
    if (why === undefined) return
    pausedUntil = now() + PAUSE_MS
    console.error(`traces: ${why}. ${dropped} spans were dropped; the next are sent after ${PAUSE_MS / 1_000} s`)
    dropped = 0
  }

  async function post(spans: Span[]): Promise<void> {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(otlpOf(spans, resource)),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      await response.body?.cancel()
      if (!response.ok) drop(spans.length, `${url} answered ${response.status}`)
    } catch (error) {
      drop(spans.length, `${url} cannot be reached: ${(error as Error).message}`)
    }
  }

  async function sendAll(): Promise<void> {
    await Promise.resolve()
    while (waiting.length > 0) {
      const spans = waiting.slice(0, MAX_REQUEST)
      waiting = waiting.slice(MAX_REQUEST)
      if (now() < pausedUntil) drop(spans.length)
      else {
        sendingUntil = now() + 2 * TIMEOUT_MS
        await post(spans)
      }
    }
    sendingUntil = 0
  }

  return {
    add(spans: readonly Span[]): void {
      const room = MAX_WAITING - waiting.length
      waiting.push(...spans.slice(0, room))
      if (spans.length > room) drop(spans.length - Math.max(0, room))
      if (now() < sendingUntil || waiting.length === 0) return
      sendingUntil = now() + 2 * TIMEOUT_MS
      const sent = sendAll()
      defer?.(sent)
    },
  }
}

export type Exporter = ReturnType<typeof createExporter>
