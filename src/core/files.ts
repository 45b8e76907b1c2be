// Stored files: their storage, their names, and ranges.

export type Stored = {
  size: number
  type?: string
  etag: string
  /** Milliseconds. */
  storedAt: number
  metadata: Record<string, string>
}

export type StoreOptions = { type?: string; metadata?: Record<string, string> }

/** A file that comes in pieces. All but the last must have the same size, at least 5 MiB. */
export type Upload = {
  /** The bytes may be overwritten once this has resolved. */
  part: (n: number, bytes: Uint8Array) => Promise<void>
  complete: () => Promise<void>
  abort: () => Promise<void>
}

export type Sink = {
  put: (key: string, bytes: Uint8Array, options: StoreOptions) => Promise<void>
  upload: (key: string, options: StoreOptions) => Promise<Upload>
}

/** Storage for files: R2, or any compatible implementation. */
export type Bucket = Sink & {
  head: (key: string) => Promise<Stored | null>
  get: (key: string, range?: Range) => Promise<(Stored & { body: ReadableStream<Uint8Array> }) | null>
  delete: (key: string) => Promise<void>
  /** Lists a page of files, ordered by key, with an optional prefix. */
  list: (page: { limit: number; cursor?: string; prefix?: string }) => Promise<{ objects: Kept[]; cursor?: string }>
}

export type Kept = Pick<Stored, 'size' | 'storedAt' | 'type'> & { key: string }

export type Range = { offset: number; length: number }

/** The files of a deployment, by their ids. */
export type Files = {
  bucket: Bucket
  /**
   * The id of the file that a job stores; it contains a proof that we issued it, and the time of the request: after a
   * restore from older data, the number may belong to another job.
   */
  idOf: (job: number, askedAt?: number) => Promise<string>
  /** The number in an id, or undefined when that shows that we did not give it. */
  jobOf: (id: string) => Promise<number | undefined>
  /**
   * Signs an address that is valid for `length` milliseconds; with `since`, for up to twice that time, and with the
   * same text for `length` milliseconds.
   */
  sign: (id: string, length: number, since?: number) => Promise<{ url: string; expiresAt: number }>
  verify: (id: string, signed: { expires?: string; signature?: string }) => Promise<boolean>
}

/** The key under which a file lies: a folder of the first three characters, then the id. */
export const keyOf = (id: string): string => `${id.slice(0, 3)}/${id}`

// 84 bits in 14 characters: 34 of proof in front, so that names spread and cannot be guessed, then 50 of the number. The
// first 10 prove the number, so that most guesses are looked up nowhere; the other 24 also hold the moment.
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const NUMBER = 50n
const MAC = 34n
const LASTING = 24n

const macOf = (bytes: Uint8Array): bigint =>
  bytes.slice(0, 5).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n) >> (40n - MAC)

/**
 * Encodes a number, its MAC and the MAC of its time as an id of 14 characters.
 *
 * @example fileId(7, mac, lasting) // 'q0Zx-AAAAAAAAH'
 */
export function fileId(job: number, mac: Uint8Array, lasting = mac): string {
  const proof = ((macOf(mac) >> LASTING) << LASTING) | (macOf(lasting) & ((1n << LASTING) - 1n))
  let rest = (proof << NUMBER) | BigInt(job)
  let id = ''
  for (let i = 0; i < 14; i++, rest >>= 6n) id = alphabet[Number(rest & 63n)] + id
  return id
}

/** The time in the id of a job's file: when Downloader's API issued the id, else when the job was created. */
export const askedAtOf = ({ createdAt }: { createdAt: Date | number }, { askedAt }: { askedAt?: number }): number =>
  askedAt ?? Number(createdAt)

const bitsOf = (id: string): bigint =>
  [...id].reduce((sum, character) => (sum << 6n) | BigInt(alphabet.indexOf(character)), 0n)

/** Reads the number; whether the id is one of ours shows when it is written again. */
export function numberIn(id: string): number | undefined {
  if (!/^[\w-]{14}$/.test(id)) return undefined
  const job = Number(bitsOf(id) & ((1n << NUMBER) - 1n))
  return job > 0 ? job : undefined
}

/** Two ids of the same number, the same secret, and maybe two moments. */
export const isKindred = (one: string, other: string): boolean =>
  bitsOf(one) >> (NUMBER + LASTING) === bitsOf(other) >> (NUMBER + LASTING) && numberIn(one) === numberIn(other)

/**
 * Which bytes a Range header asks for: undefined for the whole file, which is also the answer to forms that we do not
 * speak; null when there are none such.
 *
 * @example rangeOf('bytes=10-', 100) // { offset: 10, length: 90 }
 */
export function rangeOf(header: string | null, size: number): Range | null | undefined {
  const [, first = '', second = ''] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? []
  if (first === '' && second === '') return undefined
  const offset = first === '' ? Math.max(0, size - Number(second)) : Number(first)
  const last = first === '' || second === '' ? size - 1 : Number(second)
  if (first !== '' && last < offset && second !== '') return undefined
  const length = Math.min(size - 1, last) - offset + 1
  return offset >= size || length < 1 ? null : { offset, length }
}

/** The id in the key of a file; undefined for other objects, because the bucket also contains records about files. */
export const idIn = (key: string): string | undefined => /^([\w-]{3})\/(\1[\w-]{11})$/.exec(key)?.[2]

/** Resources of a deployment for downloads. */
export type Downloads = {
  files: Files
  /** Hosts inside our own network that may be asked. */
  allowHosts: readonly string[]
  /** Base of public addresses, `<base>/<folder>/<id>`; without it, files need signed addresses. */
  base?: string
  /** For how long after its callback was delivered a file is kept, in milliseconds. */
  keep: number
  /** A Kafka REST proxy. */
  kafka?: string
}
