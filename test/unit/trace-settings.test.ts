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

function refusal(make: () => unknown): Error {
  try {
    make()
  } catch (error) {
    return error as Error
  }
  throw new Error('expected an error')
}

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
  [{ OTEL_TRACES_SAMPLER_ARG: '10%' }, 'OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1, got 10%'],
])('%j is refused', (env, message) => {
  expect(() => of({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...env })).toThrow(message)
})

const address = 'expected an address that begins with https:// or http://'
const pair = 'expected name=value, percent-encoded'

test.each<[keyof Environment, string, string]>([
  ['UPSTASH_REDIS_REST_URL', 'redis://default:s3cret@redis.example.com:6379', address],
  ['QSTASH_URL', 'qstash.example.com/s3cret', address],
  ['SIDEJOB_HEARTBEAT_URL', 'hc.example.com/s3cret', address],
  ['SIDEJOB_DOWNLOAD_URL', 'files.example.com/s3cret', address],
  ['SIDEJOB_KAFKA_REST_URL', 'kafka://user:s3cret@kafka.example.com', address],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'otel.example.com/s3cret', address],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'x-key:s3cret', pair],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'x-key=%s3cret', pair],
  ['SIDEJOB_ENCRYPTION_KEY', 's3cret', 'expected the base64 of 32 bytes'],
])('an error about %s names the setting and its length, but not its value %s', (setting, value, expected) => {
  const error = refusal(() => of({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, [setting]: value }))
  expect(error).toMatchObject({ code: 'MISCONFIGURED' })
  expect(error.message).toContain(setting)
  expect(error.message).toContain(expected)
  expect(error.message).toContain(`got another value of ${value.length} characters`)
  expect(`${error.stack}`).not.toContain('s3cret')
})
