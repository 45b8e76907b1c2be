const encoder = new TextEncoder()

const digitsOf = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

const hex = (bytes: Uint8Array): string => bytes.reduce((text, byte) => text + digitsOf[byte], '')

export const sha256 = async (bytes: Uint8Array) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as BufferSource))

export const hashOfBytes = async (bytes: Uint8Array): Promise<string> => hex(await sha256(bytes))

export const hashOf = (text: string): Promise<string> => hashOfBytes(encoder.encode(text))

/** Takes the same time for all inputs of one length, so that the time reveals nothing. */
export function sameHash(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i % Math.max(1, b.length))
  return difference === 0
}

export async function hmac(secret: Uint8Array, content: Uint8Array): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', secret as BufferSource, algorithm, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, content as BufferSource))
}

const textHmac = async (secret: string, text: string) => hex(await hmac(encoder.encode(secret), encoder.encode(text)))

/** A proof needs the secret too, because everyone who can read Redis or an export knows the hash. */
export const linkSignature = async (secret: string, hash: string, path: string, until: number): Promise<string> =>
  textHmac(await textHmac(secret, `tokens of ${hash}`), `GET ${path} until ${until}`)

/** `chance` is a stored random string, so that a repeated call returns the same key. */
export const keyFrom = async (secret: string, chance: string, tenant?: string): Promise<string> =>
  `sj_${tenant === undefined ? '' : `${tenant}_`}${(await textHmac(secret, `API key ${chance}`)).slice(0, 44)}`

export const newKey = (tenant?: string): string =>
  `sj_${tenant === undefined ? '' : `${tenant}_`}${hex(crypto.getRandomValues(new Uint8Array(22)))}`

export const sessionName = (tenant?: string): string =>
  `${tenant === undefined ? '' : `${tenant}~`}${hex(crypto.getRandomValues(new Uint8Array(32)))}`
