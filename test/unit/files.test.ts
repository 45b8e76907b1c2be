import { describe, expect, test } from 'vitest'
import { type Downloads, fileId, keyOf, numberIn, rangeOf } from '../../src/core/files.ts'
import { mimeFault, mimePatterns } from '../../src/core/mime.ts'
import type { Payload } from '../../src/engine/remote/callbacks.ts'
import { downloaderPayload } from '../../src/facades/downloader/shown.ts'
import { createFiles } from '../../src/files.ts'

const mac = new Uint8Array(32).fill(0xff)

test('an id has 14 characters, which contain the number of the job and a MAC', () => {
  for (const number of [1, 7, 123_456, 2 ** 50 - 1]) {
    const id = fileId(number, mac)
    expect(id).toMatch(/^[\w-]{14}$/)
    expect(numberIn(id)).toBe(number)
    expect(keyOf(id)).toBe(`${id.slice(0, 3)}/${id}`)
  }
  expect(numberIn('AAAAAAAAAAAAAA')).toBeUndefined()
  expect(numberIn('7')).toBeUndefined()
})

test('only our own ids and addresses are accepted, and addresses only until they expire', async () => {
  let now = 1_800_000_000_000
  const files = createFiles({ bucket: {} as never, secret: 's', publicUrl: 'https://j', now: () => now })
  const id = await files.idOf(7)
  expect(await files.jobOf(id)).toBe(7)
  expect(await files.jobOf(`B${id.slice(1)}`)).toBeUndefined()
  expect(await files.jobOf((await files.idOf(8)).slice(0, 5) + id.slice(5))).toBeUndefined()
  const url = new URL((await files.sign(id, 60_000)).url)
  const signed = Object.fromEntries(url.searchParams)
  expect(await files.verify(id, signed)).toBe(true)
  expect(await files.verify(await files.idOf(8), signed)).toBe(false)
  expect(await files.verify(id, { ...signed, expires: String(now) })).toBe(false)
  expect(await files.verify(id, {})).toBe(false)
  now += 61_000
  expect(await files.verify(id, signed)).toBe(false)
})

test('if a failover reuses the number of a job, its file gets another id, and earlier ids stay valid', async () => {
  const files = createFiles({ bucket: {} as never, secret: 's', publicUrl: 'https://j', now: () => 0 })
  const ids = [await files.idOf(7), await files.idOf(7, 1_800_000_000_000), await files.idOf(7, 1_800_000_000_001)]
  expect(new Set(ids).size).toBe(3)
  for (const id of ids) expect(await files.jobOf(id)).toBe(7)
  expect(ids[0]).toBe('LH5ShMAAAAAAAH')
})

test('an address that is signed for the same moment is always the same, and expires a fixed time after this moment', async () => {
  const since = 1_800_000_000_500
  let now = since
  const files = createFiles({ bucket: {} as never, secret: 's', publicUrl: 'https://j', now: () => now })
  const id = await files.idOf(7)
  const first = await files.sign(id, 60_000, since)
  expect(first.expiresAt - since).toBeLessThan(61_000)
  for (const later of [59_999, 60_000, 600_000]) {
    now = since + later
    expect(await files.sign(id, 60_000, since)).toEqual(first)
  }
})

test('all attempts of a callback contain the same address, which is valid as long as the file is kept', async () => {
  const end = 1_800_000_000_500
  let now = end
  const files = createFiles({ bucket: {} as never, secret: 's', publicUrl: 'https://j', now: () => now })
  const payload = downloaderPayload({ files, keep: 3 * 3_600_000 } as Downloads)
  const ended = { type: 'success', job: 7, result: '{"status":200}', finishedAt: end } as Parameters<Payload>[0]
  const bodies = new Set<string>()
  for (const days of [0, 3, 6.99, 7, 14, 30]) {
    now = end + days * 86_400_000
    const body = await payload(ended, { extra: '', resource_url: 'https://a' })
    bodies.add(body)
    const url = new URL(JSON.parse(body).download_url)
    expect(await files.verify(await files.idOf(7), Object.fromEntries(url.searchParams))).toBe(true)
  }
  expect(bodies.size).toBe(1)
})

test.each([
  [null, undefined],
  ['bytes=0-', { offset: 0, length: 100 }],
  ['bytes=10-19', { offset: 10, length: 10 }],
  ['bytes=90-200', { offset: 90, length: 10 }],
  ['bytes=-5', { offset: 95, length: 5 }],
  ['bytes=-500', { offset: 0, length: 100 }],
  ['bytes=100-', null],
  ['bytes=-0', null],
  ['bytes=20-10', undefined],
  ['bytes=0-1,5-6', undefined],
  ['lines=1-2', undefined],
])('a range of %s in 100 bytes', (header, range) => {
  expect(rangeOf(header, 100)).toEqual(range)
})

describe('types', () => {
  const patterns: [string, string, boolean][] = [
    ['', 'image/png', true],
    ['image/png', 'image/png', true],
    ['IMAGE/*', 'image/png', true],
    ['image/*', 'image/png', true],
    ['*', 'image/png', false],
    ['*/*', 'image/png', true],
    ['**', 'image/png', true],
    ['image/p?g', 'image/png', true],
    ['image/[jp]*', 'image/png', true],
    ['image/[!jp]*', 'image/png', false],
    ['image/svg+xml', 'image/svg+xml', true],
    ['image/svg+xml', 'image/svggxml', false],
    ['!image/gif,image/*', 'image/png', true],
    ['!image/gif,image/*', 'image/gif', false],
    ['image/png,image/jpeg', 'image/png', false],
    ['image/png|image/jpeg', 'image/jpeg', true],
    ['image/png,', 'image/png', false],
  ]
  test.each(patterns)('a type must match one alternative of each entry: %j of %s is %s', (patterns, type, fits) => {
    expect(mimeFault(patterns, type) === undefined).toBe(fits)
  })

  test('invalid values are refused with the known messages', () => {
    for (const empty of ['[]', '[]a]', '[!]', '[!]a]', '[z-a]'])
      expect(() => mimePatterns(empty)).toThrow(`Invalid MimeType Pattern, "${empty}"`)
    expect(() => mimePatterns('image/[')).toThrow('Invalid MimeType Pattern, "image/["')
    expect(() => mimePatterns('image/\\')).toThrow('Invalid MimeType Pattern')
  })
})

test('a pattern for types is matched quickly, even with many stars', () => {
  const began = performance.now()
  for (const stars of ['**', '*', '*a']) {
    expect(mimeFault(`${stars.repeat(200)}X`, 'text/plain'.repeat(100))).toMatch(/^Expected mime-type to be/)
    expect(mimeFault(stars.repeat(200), 'a'.repeat(1_000))).toBeUndefined()
  }
  expect(performance.now() - began).toBeLessThan(1_000)
})
