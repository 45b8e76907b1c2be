import type { Downloads } from '../../src/core/files.ts'
import { facades } from '../../src/facades/index.ts'
import { createApp } from '../../src/http/app.ts'
import type { Deps } from '../../src/http/deps.ts'
import { verifier } from '../../src/http/signature.ts'
import type { BadRequest, Signing } from './bad-input.ts'
import { type Answers, fakeEngine } from './fake-engine.ts'

export const signingKeys = { current: 'sig_current', next: 'sig_next', wrong: 'sig_wrong' }
export const publicUrl = 'https://jobs.example.com'
export const NOW = 1_800_000_000_000

export const FILE = 'AAAAAAAAAAAAAH'

const stored = { size: 13, type: 'text/plain', etag: '"e"', storedAt: NOW, metadata: {} }

const downloads: Downloads = {
  files: {
    bucket: {
      head: async () => stored,
      get: async () => ({ ...stored, body: new Response('content of the file').body! }),
      put: async () => {},
      upload: () => Promise.reject(new Error('not here')),
      delete: async () => {},
      list: async () => ({
        objects: [
          { ...stored, key: `${FILE.slice(0, 3)}/${FILE}` },
          { ...stored, key: 'by-url/0' },
        ],
      }),
    },
    idOf: async () => FILE,
    jobOf: async (id) => (id === FILE ? 7 : undefined),
    sign: async (id, length) => ({
      url: `${publicUrl}/files/${id}?expires=1&signature=right`,
      expiresAt: Date.now() + length,
    }),
    verify: async (_, { signature }) => signature === 'right',
  },
  allowHosts: [],
  base: `${publicUrl}/files`,
  keep: 60_000,
}

export const setUp = (verbs: Answers = {}, deps: Partial<Deps> = {}) => {
  const { engine, calls } = fakeEngine(verbs)
  const reported: unknown[] = []
  const app = createApp({
    facades,
    engine,
    verify: verifier({ ...signingKeys, now: () => NOW }),
    publicUrl,
    report: (error) => reported.push(error),
    downloads,
    tenants: {
      open: async () => undefined,
      tick: () => engine.tick(),
      erase: async () => ({ keys: 0, files: 0, cursor: null }),
    },
    ...deps,
  })
  return { app, calls, reported, ask: (request: BadRequest) => asRequest(request).then((made) => app.fetch(made)) }
}

export const asRequest = async ({ method, path, as = 'admin', headers, body, sign }: BadRequest): Promise<Request> => {
  const made = new Headers(headers)
  if (as !== 'none') made.set('authorization', `Bearer ${as}`)
  const sent = typeof body === 'function' ? body() : body
  const asked = path.replace('JOB', '7')
  if (sign) made.set('upstash-signature', await signature({ body: String(sent), path: asked, ...sign }))
  // Behind a proxy, the host of a request is not the public host, and must have no effect.
  return new Request(`http://inside.test${asked}`, { method, headers: made, body: sent as BodyInit })
}

const defaults = { key: 'current', expires: 300, starts: 0, iss: 'Upstash', alg: 'HS256' } as const

export const signature = async (
  signing: Signing & { body: string; path: string; claims?: object },
): Promise<string> => {
  const { key, expires, starts, iss, alg, body, path, claims } = { claims: {}, ...defaults, ...signing }
  const seconds = NOW / 1000
  const payload = {
    iss,
    sub: `${publicUrl}${path}`,
    exp: seconds + expires,
    nbf: seconds + starts,
    iat: seconds,
    jti: 'jwt_1',
    body: base64url(await crypto.subtle.digest('SHA-256', encoder.encode(body))),
    ...claims,
  }
  const signed = `${text({ alg, typ: 'JWT' })}.${text(payload)}`
  return `${signed}.${await mac(signingKeys[key], signed)}`
}

const encoder = new TextEncoder()

export const base64url = (bytes: ArrayBuffer | Uint8Array): string =>
  Buffer.from(bytes as Uint8Array).toString('base64url')

const text = (value: object): string => base64url(encoder.encode(JSON.stringify(value)))

export const mac = async (key: string, signed: string): Promise<string> => {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', encoder.encode(key), algorithm, false, ['sign'])
  return base64url(await crypto.subtle.sign('HMAC', imported, encoder.encode(signed)))
}
