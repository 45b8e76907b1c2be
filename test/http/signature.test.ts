import { Receiver } from '@upstash/qstash'
import { expect, test, vi } from 'vitest'
import { verifier } from '../../src/http/signature.ts'
import { base64url, mac, NOW, publicUrl, signature, signingKeys } from './kit.ts'

const url = `${publicUrl}/dispatch/core`
const body = '{"bell":"b-1"}'
const sign = (signing: Partial<Parameters<typeof signature>[0]> = {}) =>
  signature({ body, path: '/dispatch/core', ...signing })

const hash = base64url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body)))
const other = base64url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode('{}')))
const claims = (claims: object) => sign({ claims })
const turned = (text: string) => (text.at(-2) === 'A' ? `${text.slice(0, -2)}BA` : `${text.slice(0, -2)}AA`)

type Sent = { body?: string; url?: string }

const table: [name: string, accepted: boolean, token: string | Promise<string>, sent?: Sent][] = [
  ['signed with the current key', true, sign()],
  ['signed with the next key', true, sign({ key: 'next' })],
  ['a body hash with padding', true, claims({ body: `${hash}=` })],
  ['nbf 0, as QStash sends it', true, claims({ nbf: 0 })],
  ['no nbf at all', true, claims({ nbf: undefined })],
  ['an empty body', true, sign({ body: '' }), { body: '' }],
  ['a body beyond ASCII', true, sign({ body: '"é→😀"' }), { body: '"é→😀"' }],
  ['an address with a query', true, sign({ path: '/dispatch/core?a=b' }), { url: `${url}?a=b` }],
  ['an address with an encoded name', true, sign({ path: '/dispatch/a%20b' }), { url: `${publicUrl}/dispatch/a%20b` }],
  ['a second before its end', true, sign({ expires: 1 })],
  ['signed with another key', false, sign({ key: 'wrong' })],
  ['another body', false, sign(), { body: '{"bell":"b-2"}' }],
  ['a body hash of something else', false, claims({ body: other })],
  ['another address', false, sign(), { url: `${publicUrl}/tick` }],
  ['another host', false, sign(), { url: 'https://evil.example.com/dispatch/core' }],
  ['a slash at the end', false, sign(), { url: `${url}/` }],
  ['another issuer', false, sign({ iss: 'upstash' })],
  ['ended 4 s ago, by a clock that is behind', true, sign({ expires: -4 })],
  ['ended 5 s ago', false, sign({ expires: -5 })],
  ['valid in 5 s, by a clock that is ahead', true, sign({ starts: 5 })],
  ['valid in 6 s', false, sign({ starts: 6 })],
  ['an end that is a text', false, claims({ exp: String(NOW / 1000 + 300) })],
  ['another algorithm', false, sign({ alg: 'HS512' })],
  ['no algorithm', false, sign({ alg: 'none' })],
  ['no signature in it', false, sign().then((token) => token.replace(/[^.]+$/, ''))],
  ['a changed signature', false, sign().then(turned)],
  ['changed claims', false, sign().then((token) => token.replace(/\.(..)/, '.eyJ4'))],
  ['a part too many', false, sign().then((token) => `${token}.x`)],
  ['words', false, 'let.me.in'],
  ['one word', false, 'x'],
]

vi.useFakeTimers({ now: NOW, toFake: ['Date'] })

const verify = verifier({ ...signingKeys, now: Date.now })
const receiver = new Receiver({
  currentSigningKey: signingKeys.current,
  nextSigningKey: signingKeys.next,
  devMode: false,
})
const theirs = async (sent: { signature: string; body: string; url: string }) =>
  receiver.verify({ ...sent, clockTolerance: 5 }).catch(() => false)

test.each(table)('%s: %s', async (_, accepted, token, sent = {}) => {
  const request = { body, url, ...sent, signature: await token }
  expect(await verify(request)).toBe(accepted)
  expect(await theirs(request)).toBe(accepted)
})

test('a signature computed by hand is accepted', async () => {
  const header = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9'
  const payload = base64url(
    new TextEncoder().encode(
      `{"iss":"Upstash","sub":"https://a.example/tick","exp":1800000300,"nbf":0,"body":"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU="}`,
    ),
  )
  const signature = `${header}.${payload}.${await mac('sig_current', `${header}.${payload}`)}`
  expect(await verify({ signature, body: '', url: 'https://a.example/tick' })).toBe(true)
  expect(await verify({ signature, body: ' ', url: 'https://a.example/tick' })).toBe(false)
})

test('calls without the header, or to a deployment without keys, are refused', async () => {
  const open = verifier({ current: '', next: '', now: () => NOW })
  expect(await verify({ signature: undefined, body, url })).toBe(false)
  expect(await open({ signature: await sign(), body, url })).toBe(false)
})

test('a signature must have an expiry and a body hash', async () => {
  const endless = await claims({ exp: undefined })
  expect(await verify({ signature: endless, body, url })).toBe(false)
  expect(await theirs({ signature: endless, body, url })).toBe(true)
  expect(await verify({ signature: await claims({ body: undefined }), body, url })).toBe(false)
})

test('a repeated signature is accepted, because a bell may arrive twice', async () => {
  const request = { signature: await sign(), body, url }
  expect([await verify(request), await verify(request)]).toEqual([true, true])
})
