import { hexHash } from './hash.ts'

export type TraceContext = { traceId: string; spanId: string; isSampled: boolean }

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/

export function readTraceparent(text: string | null | undefined): TraceContext | undefined {
  const [, traceId, spanId, flags = '0'] = TRACEPARENT.exec(text ?? '') ?? []
  return traceId && spanId ? { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 } : undefined
}

export const traceparentOf = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`

export const traceIdOf = (text: string): string => hexHash(text, 4).replace(/^0{32}$/, '1'.padStart(32, '0'))
export const spanIdOf = (text: string): string => hexHash(text, 2).replace(/^0{16}$/, '1'.padStart(16, '0'))

/** Depends only on the trace id, so that all spans of a trace get the same answer. */
export const isSampled = (traceId: string, share: number): boolean =>
  Number.parseInt(traceId.slice(0, 8), 16) / 2 ** 32 < share

const kinds = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const

export type Attributes = Record<string, string | number | boolean | undefined>

/** Times are milliseconds since 1970. */
export type Span = {
  traceId: string
  spanId: string
  parent?: string
  name: string
  kind: keyof typeof kinds
  start: number
  end: number
  attributes: Attributes
  links?: { traceId: string; spanId: string }[]
  error?: { message: string; stack?: string }
}

const anyValueOf = (value: string | number | boolean) => {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

const attributesOf = (attributes: Attributes) =>
  Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: anyValueOf(value) }]))

/** Nanoseconds, accurate to a microsecond. */
const nano = (ms: number): string => `${Math.round(ms * 1_000)}000`

const STATUS_ERROR = 2

function spanJson({ traceId, spanId, parent, name, kind, start, end, attributes, links, error }: Span) {
  const exception = error && {
    timeUnixNano: nano(end),
    name: 'exception',
    attributes: attributesOf({ 'exception.message': error.message, 'exception.stacktrace': error.stack }),
  }
  return {
    traceId,
    spanId,
    parentSpanId: parent,
    name,
    kind: kinds[kind],
    startTimeUnixNano: nano(start),
    endTimeUnixNano: nano(Math.max(start, end)),
    attributes: attributesOf(attributes),
    links: links?.length ? links : undefined,
    status: error && { code: STATUS_ERROR, message: error.message },
    events: exception && [exception],
  }
}

/** Body of `POST /v1/traces` in OTLP 1.0. */
export const otlpOf = (spans: readonly Span[], resource: Attributes) => ({
  resourceSpans: [
    {
      resource: { attributes: attributesOf(resource) },
      scopeSpans: [{ scope: { name: 'sidejob' }, spans: spans.map(spanJson) }],
    },
  ],
})
