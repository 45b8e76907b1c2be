import { expect, test } from 'vitest'
import { deploymentOf, type Environment } from '../../src/environment.ts'

const complete = {
  UPSTASH_REDIS_REST_URL: 'https://redis.example.com',
  UPSTASH_REDIS_REST_TOKEN: 'token',
  QSTASH_TOKEN: 'token',
  QSTASH_CURRENT_SIGNING_KEY: 'a',
  QSTASH_NEXT_SIGNING_KEY: 'b',
  PUBLIC_URL: 'https://jobs.example.com',
}
const endpoint = 'https://otel.example.com'
const of = (env: Environment) => deploymentOf({ ...complete, ...env }).engine.traces

test('without an endpoint there are no traces', () => {
  expect(of({})).toBeUndefined()
  expect(of({ OTEL_EXPORTER_OTLP_HEADERS: 'a=b' })).toBeUndefined()
})

test('headers are decoded; all traces are sent by default', () => {
  const OTEL_EXPORTER_OTLP_HEADERS = 'Authorization=Basic%20YTpi==, x-key=7'
  expect(of({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS })).toEqual({
    endpoint,
    headers: { Authorization: 'Basic YTpi==', 'x-key': '7' },
    sample: 1,
  })
  const more = { OTEL_TRACES_SAMPLER_ARG: '0.25', OTEL_SERVICE_NAME: 'shop' }
  expect(of({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...more })).toMatchObject({ sample: 0.25, service: 'shop' })
  expect(of({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: '0' })).toMatchObject({ sample: 0 })
})

test.each<[Environment, string]>([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'otel.example.com' }, 'OTEL_EXPORTER_OTLP_ENDPOINT: expected an address, got otel'],
  [{ SIDEJOB_HEARTBEAT_URL: 'hc.example.com' }, 'SIDEJOB_HEARTBEAT_URL: expected an address, got hc.example.com'],
  [{ OTEL_TRACES_SAMPLER_ARG: '10%' }, 'OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1, got 10%'],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'a:b' }, 'OTEL_EXPORTER_OTLP_HEADERS: expected name=value, got a:b'],
])('%j is refused', (env, message) => {
  expect(() => of({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...env })).toThrow(message)
})
