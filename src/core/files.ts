export type Stored = {
  size: number
  type?: string
  etag: string
  /** Milliseconds. */
  storedAt: number
  metadata: Record<string, string>
}

export type StoreOptions = { type?: string; metadata?: Record<string, string> }

/** All parts but the last must have the same size, at least 5 MiB. */
export type Upload = {
  /** After this resolves, the bytes may be overwritten. */
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
   * The id proves that we issued it, and contains the time of the request: after Redis was restored from older data,
   * the number may belong to another job.
   */
  idOf: (job: number, askedAt?: number) => Promise<string>
  jobOf: (id: string) => Promise<number | undefined>
  /**
   * The URL is valid for `length` milliseconds. With `since`, it is valid for up to twice that, and stays the same
   * for `length` milliseconds.
   */
  sign: (id: string, length: number, since?: number) => Promise<{ url: string; expiresAt: number }>
  verify: (id: string, signed: { expires?: string; signature?: string }) => Promise<boolean>
}

/** The folder is the first three characters of the id. */
export const keyOf = (id: string): string => `${id.slice(0, 3)}/${id}`

// 84 bits in 14 characters. First 34 bits of proof, so that names spread and cannot be guessed, then 50 bits of the
// number. The first 10 bits prove the number, so that most guesses need no lookup. The other 24 also depend on the
// time.
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

/** The time of the request to Downloader's API, or else of the job's creation. */
export const askedAtOf = ({ createdAt }: { createdAt: Date | number }, { askedAt }: { askedAt?: number }): number =>
  askedAt ?? Number(createdAt)

const bitsOf = (id: string): bigint =>
  [...id].reduce((sum, character) => (sum << 6n) | BigInt(alphabet.indexOf(character)), 0n)

/** To verify the id, the caller encodes the number again. */
export function numberIn(id: string): number | undefined {
  if (!/^[\w-]{14}$/.test(id)) return undefined
  const job = Number(bitsOf(id) & ((1n << NUMBER) - 1n))
  return job > 0 ? job : undefined
}

/** True for the same number and secret. The times may differ. */
export const isKindred = (one: string, other: string): boolean =>
  bitsOf(one) >> (NUMBER + LASTING) === bitsOf(other) >> (NUMBER + LASTING) && numberIn(one) === numberIn(other)

/** Undefined means the whole file, also for unsupported ranges. Null means that no byte matches. */
export function rangeOf(header: string | null, size: number): Range | null | undefined {
  const [, first = '', second = ''] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? []
  if (first === '' && second === '') return undefined
  const offset = first === '' ? Math.max(0, size - Number(second)) : Number(first)
  const last = first === '' || second === '' ? size - 1 : Number(second)
  if (first !== '' && last < offset && second !== '') return undefined
  const length = Math.min(size - 1, last) - offset + 1
  return offset >= size || length < 1 ? null : { offset, length }
}

/** Undefined for records about files, which the bucket also contains. */
export const idIn = (key: string): string | undefined => /^([\w-]{3})\/(\1[\w-]{11})$/.exec(key)?.[2]

export type Downloads = {
  files: Files
  allowHosts: readonly string[]
  base?: string
  /** Milliseconds from the delivery of the callback. */
  keep: number
  kafka?: string
}
