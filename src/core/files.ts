export type Stored = {
  size: number
  type?: string
  etag: string
  /** Milliseconds since 1970. */
  storedAt: number
  metadata: Record<string, string>
}

export type StoreOptions = { type?: string; metadata?: Record<string, string> }

/** All parts but the last have the same size, at least 5 MiB. */
export type Upload = {
  /** The caller may reuse the buffer after the promise has resolved. */
  part: (n: number, bytes: Uint8Array) => Promise<void>
  complete: () => Promise<void>
  abort: () => Promise<void>
}

export type Sink = {
  put: (key: string, bytes: Uint8Array, options: StoreOptions) => Promise<void>
  upload: (key: string, options: StoreOptions) => Promise<Upload>
}

export type Bucket = Sink & {
  head: (key: string) => Promise<Stored | null>
  get: (key: string, range?: Range) => Promise<(Stored & { body: ReadableStream<Uint8Array> }) | null>
  delete: (key: string) => Promise<void>
  list: (page: { limit: number; cursor?: string; prefix?: string }) => Promise<{ objects: Kept[]; cursor?: string }>
}

export type Kept = Pick<Stored, 'size' | 'storedAt' | 'type'> & { key: string }

export type Range = { offset: number; length: number }

export type Files = {
  bucket: Bucket
  /**
   * An id proves that this deployment issued it. Redis may reuse a job's number after a restore, so the proof covers
   * the time of the request.
   */
  idOf: (job: number, askedAt?: number) => Promise<string>
  jobOf: (id: string) => Promise<number | undefined>
  /**
   * The URL is valid for `length` milliseconds from `since` (default: now). All calls with the same `since` return the
   * same URL.
   */
  sign: (id: string, length: number, since?: number) => Promise<{ url: string; expiresAt: number }>
  verify: (id: string, signed: { expires?: string; signature?: string }) => Promise<boolean>
}

export const keyOf = (id: string): string => `${id.slice(0, 3)}/${id}`

// An id begins with the proof, so that the files spread over the folders. Ten of the 34 bits of a proof depend only on
// the number of the job, so most guessed ids are refused without a lookup.
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const NUMBER = 50n
const MAC = 34n
const LASTING = 24n

const macOf = (bytes: Uint8Array): bigint =>
  bytes.slice(0, 5).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n) >> (40n - MAC)

export function fileId(job: number, mac: Uint8Array, lasting = mac): string {
  const proof = ((macOf(mac) >> LASTING) << LASTING) | (macOf(lasting) & ((1n << LASTING) - 1n))
  let rest = (proof << NUMBER) | BigInt(job)
  let id = ''
  for (let i = 0; i < 14; i++, rest >>= 6n) id = alphabet[Number(rest & 63n)] + id
  return id
}

export const askedAtOf = ({ createdAt }: { createdAt: Date | number }, { askedAt }: { askedAt?: number }): number =>
  askedAt ?? Number(createdAt)

const bitsOf = (id: string): bigint =>
  [...id].reduce((sum, character) => (sum << 6n) | BigInt(alphabet.indexOf(character)), 0n)

/** Does not verify the id, which may be forged. To verify an id, encode its number again and compare. */
export function numberIn(id: string): number | undefined {
  if (!/^[\w-]{14}$/.test(id)) return undefined
  const job = Number(bitsOf(id) & ((1n << NUMBER) - 1n))
  return job > 0 ? job : undefined
}

export const isSameFile = (one: string, other: string): boolean =>
  bitsOf(one) >> (NUMBER + LASTING) === bitsOf(other) >> (NUMBER + LASTING) && numberIn(one) === numberIn(other)

/** Returns undefined for the whole file and for unsupported ranges, and null if no byte matches. */
export function rangeOf(header: string | null, size: number): Range | null | undefined {
  const [, first = '', second = ''] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? []
  if (first === '' && second === '') return undefined
  const offset = first === '' ? Math.max(0, size - Number(second)) : Number(first)
  const last = first === '' || second === '' ? size - 1 : Number(second)
  if (first !== '' && last < offset && second !== '') return undefined
  const length = Math.min(size - 1, last) - offset + 1
  return offset >= size || length < 1 ? null : { offset, length }
}

export const idIn = (key: string): string | undefined => /^([\w-]{3})\/(\1[\w-]{11})$/.exec(key)?.[2]

export type Downloads = {
  files: Files
  allowHosts: readonly string[]
  base?: string
  /** Milliseconds for which a file is kept after its callback was delivered. */
  keep: number
  kafka?: string
}
