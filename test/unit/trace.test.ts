import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer'
import { describe, expect, test } from 'vitest'
import {
  isSampled,
  otlpOf,
  readTraceparent,
  type Span,
  spanIdOf,
  traceIdOf,
  traceparentOf,
} from '../../src/core/trace.ts'

const start = 1_795_657_441_781.25
const span: Span = {
  traceId: traceIdOf('order 7'),
  spanId: spanIdOf('run 1'),
  parent: spanIdOf('job 7'),
  name: 'run order',
  kind: 'consumer',
  start,
  end: start + 12.5,
  attributes: { text: 'ä', whole: 7, part: 0.25, flag: true, none: undefined },
  links: [{ traceId: traceIdOf('other'), spanId: spanIdOf('other') }],
  error: { message: 'out of paper', stack: 'Error: out of paper' },
}

const hrTime = (ms: number): [number, number] => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1_000) * 1_000]

const reference = () => ({
  spanContext: () => ({ traceId: span.traceId, spanId: span.spanId, traceFlags: 1 }),
  parentSpanContext: { traceId: span.traceId, spanId: span.parent, traceFlags: 1 },
  name: span.name,
  kind: 4,
  startTime: hrTime(span.start),
  endTime: hrTime(span.end),
  attributes: { text: 'ä', whole: 7, part: 0.25, flag: true },
  droppedAttributesCount: 0,
  links: [{ context: { ...span.links![0], traceFlags: 1 }, attributes: {}, droppedAttributesCount: 0 }],
  droppedLinksCount: 0,
  events: [
    {
      name: 'exception',
      time: hrTime(span.end),
      attributes: { 'exception.message': 'out of paper', 'exception.stacktrace': 'Error: out of paper' },
      droppedAttributesCount: 0,
    },
  ],
  droppedEventsCount: 0,
  status: { code: 2, message: 'out of paper' },
  resource: { attributes: { 'service.name': 'shop' }, schemaUrl: undefined },
  instrumentationScope: { name: 'sidejob' },
})

type Json = { [name: string]: Json } | Json[] | string | number | boolean | null

/** Removes counts, flags and empty lists, because sometimes only one of the two encoders writes them. */
function plain(value: Json): Json {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(
    ([name, member]) => !/^dropped|^flags$/.test(name) && !(Array.isArray(member) && member.length === 0),
  )
  return Object.fromEntries(kept.map(([name, member]) => [name, name === 'intValue' ? Number(member) : plain(member)]))
}

test('a span is encoded as by the reference encoder', () => {
  const bytes = JsonTraceSerializer.serializeRequest([reference() as never])!
  const expected = JSON.parse(new TextDecoder().decode(bytes)) as Json
  const ours = JSON.parse(JSON.stringify(otlpOf([span], { 'service.name': 'shop' }))) as Json
  expect(plain(ours)).toEqual(plain(expected))
})

describe('traceparent', () => {
  const text = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

  test('is read and written', () => {
    expect(readTraceparent(text)).toEqual({
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      spanId: '00f067aa0ba902b7',
      isSampled: true,
    })
    expect(traceparentOf(readTraceparent(text)!)).toBe(text)
    expect(readTraceparent(text.replace(/01$/, '02'))!.isSampled).toBe(false)
    expect(readTraceparent(`${text.replace(/^00/, '01')}-more`)).toBeDefined()
  })

  test.each([
    null,
    '',
    'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    '00-00000000000000000000000000000000-00f067aa0ba902b7-01',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01',
    '00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x',
  ])('%j is ignored', (header) => expect(readTraceparent(header)).toBeUndefined())
})

test('ids of similar texts differ, and a share of traces is sampled', () => {
  const ids = Array.from({ length: 20_000 }, (_, i) => traceIdOf(`shop root ${i}`))
  expect(new Set(ids).size).toBe(ids.length)
  expect(new Set(ids.map((_, i) => spanIdOf(`shop job ${i}`))).size).toBe(ids.length)
  const sampled = ids.filter((id) => isSampled(id, 0.1)).length
  expect(sampled).toBeGreaterThan(1_800)
  expect(sampled).toBeLessThan(2_200)
  expect(ids.every((id) => isSampled(id, 1) && !isSampled(id, 0))).toBe(true)
})
