import { expect, test } from 'vitest'
import { checkPins, type Deployment, type Environment, versionOf, versionUrlOf } from '../../src/environment.ts'
import { defineWorker } from '../../src/index.ts'

const PUBLIC_URL = 'https://jobs.example.com'
const CF_VERSION_METADATA = { id: '4f2c8b1e-77aa-4c1e-9d7b-3a1f5c2e9b00', tag: '', timestamp: '2026-11-25T20:00:00Z' }
const of = (env: Environment) => versionOf({ PUBLIC_URL, ...env })

test('is the setting, then the tag of the Worker version, then the first letters of its id', () => {
  expect(of({})).toBeUndefined()
  expect(of({ CF_VERSION_METADATA })).toBe('4f2c8b1e')
  expect(of({ CF_VERSION_METADATA: { ...CF_VERSION_METADATA, tag: 'v1.4.0' } })).toBe('v1.4.0')
  expect(of({ CF_VERSION_METADATA: { ...CF_VERSION_METADATA, tag: 'two words' } })).toBe('4f2c8b1e')
  expect(of({ CF_VERSION_METADATA, SIDEJOB_VERSION: '88f62d2b-dirty' })).toBe('88f62d2b-dirty')
})

test('is not the id that a local stack makes up at each start', () => {
  expect(versionOf({ PUBLIC_URL: 'http://127.0.0.1:8787', CF_VERSION_METADATA })).toBeUndefined()
})

test('an invalid setting is refused, with the expected form', () => {
  for (const SIDEJOB_VERSION of ['two words', 'x'.repeat(41), 'a,b'])
    expect(() => of({ SIDEJOB_VERSION })).toThrow(
      `SIDEJOB_VERSION: expected 1 to 40 letters, digits, ".", "_", "+" and "-", got "${SIDEJOB_VERSION}"`,
    )
})

const SIDEJOB_VERSION_URL = 'https://{id}-jobs.example.workers.dev/'

test('has the address of the setting, with the first letters of the id of the Worker version', () => {
  expect(versionUrlOf({})).toBeUndefined()
  expect(versionUrlOf({ SIDEJOB_VERSION_URL })).toBeUndefined()
  expect(versionUrlOf({ SIDEJOB_VERSION_URL, CF_VERSION_METADATA })).toBe('https://4f2c8b1e-jobs.example.workers.dev')
  expect(versionUrlOf({ SIDEJOB_VERSION_URL: 'http://10.0.0.7:8787' })).toBe('http://10.0.0.7:8787')
  expect(() => versionUrlOf({ SIDEJOB_VERSION_URL: '{id}-jobs', CF_VERSION_METADATA })).toThrow(
    'SIDEJOB_VERSION_URL: expected a URL such as "https://{id}-jobs.example.workers.dev", got "{id}-jobs"',
  )
})

test('a deployment with a pinned class is refused without addresses of its versions, a local stack is not', () => {
  const order = defineWorker({ class: 'order', pin: true, perform: () => undefined })
  const check = (publicUrl: string, engine: object) => checkPins({ publicUrl, engine } as Deployment, [order])
  const versionUrl = 'https://v1.example.com'
  const missing = (setting: string) =>
    `class order is pinned, but its versions have no addresses. Set ${setting}, or remove "pin"`
  expect(() => check(PUBLIC_URL, { version: 'v1' })).toThrow(missing('SIDEJOB_VERSION_URL'))
  expect(() => check(PUBLIC_URL, { versionUrl })).toThrow(missing('SIDEJOB_VERSION or the binding CF_VERSION_METADATA'))
  expect(() => check(PUBLIC_URL, { version: 'v1', versionUrl })).not.toThrow()
  expect(() => check('http://127.0.0.1:8787', {})).not.toThrow()
})
