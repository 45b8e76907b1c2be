import { createHash, type Hash } from 'node:crypto'
import { type Job, mimeFault, type Sink, type StoreOptions, type Upload } from '../../src/index.ts'
import type { Args } from './args.ts'
import { causeOf, fail, isOurs } from './failure.ts'
import { HEAD, imageSize, typeOf } from './looks.ts'

/** R2 and S3 accept at most 10,000 parts of equal size, at least 5 MiB each. */
const PART = 8 * 1024 * 1024

type Looked = { size: number; type: string; image?: string; sha256: string; md5: string }

type Source = { response: Response; args: Args; job: Job; sink: Sink; key: string; maxSize: number }

/** Reuses one buffer: a buffer per part would raise the memory for a file of 1 GiB from 160 to 388 MiB. */
class Taking {
  readonly #source: Source
  #part = new Uint8Array(PART)
  readonly #hashes: { sha256: Hash; md5: Hash } = { sha256: createHash('sha256'), md5: createHash('md5') }
  #filled = 0
  #size = 0
  #type = ''
  #image: string | undefined
  #upload: Upload | undefined
  #parts = 0

  constructor(source: Source) {
    this.#source = source
  }

  async more(reader: ReadableStreamBYOBReader): Promise<boolean> {
    const { response, job } = this.#source
    const { done, value } = await reader.read(this.#part.subarray(this.#filled))
    if (value) this.#part = new Uint8Array(value.buffer)
    if (done || !value) return false
    this.#hashes.sha256.update(value)
    this.#hashes.md5.update(value)
    this.#size += value.length
    this.#filled += value.length
    checkSize(this.#source, this.#size)
    if (this.#type === '' && this.#filled >= HEAD) await this.#lookAtType()
    if (this.#filled === PART) await this.#flush()
    const total = Number(response.headers.get('content-length')) || null
    job.progress({ bytes: this.#size, total })
    return true
  }

  async end(): Promise<Looked> {
    this.#checkLength()
    if (this.#type === '') await this.#lookAtType()
    if (this.#parts === 0) this.#lookAtImage()
    await this.#store(async ({ sink, key }) => {
      if (!this.#upload) return sink.put(key, this.#part.subarray(0, this.#filled), this.#options())
      if (this.#filled > 0) await this.#upload.part(++this.#parts, this.#part.subarray(0, this.#filled))
      await this.#upload.complete()
    })
    return {
      size: this.#size,
      type: this.#type,
      ...(this.#image ? { image: this.#image } : {}),
      sha256: this.#hashes.sha256.digest('hex'),
      md5: this.#hashes.md5.digest('hex'),
    }
  }

  abort(): Promise<void> {
    return this.#upload?.abort().catch(() => undefined) ?? Promise.resolve()
  }

  async #flush(): Promise<void> {
    if (this.#parts === 0) this.#lookAtImage()
    await this.#store(async ({ sink, key }) => {
      this.#upload ??= await sink.upload(key, this.#options())
      await this.#upload.part(++this.#parts, this.#part)
    })
    this.#filled = 0
  }

  #options(): StoreOptions {
    return { type: this.#type, metadata: this.#source.args.bucket?.metadata }
  }

  async #store(work: (source: Source) => Promise<unknown>): Promise<void> {
    try {
      await work(this.#source)
    } catch (error) {
      fail({ phase: 'storing file', cause: causeOf(error).message, code: 'STORAGE', retriable: true }, error)
    }
  }

  async #lookAtType(): Promise<void> {
    const { args, response } = this.#source
    this.#type = await typeOf(this.#part.subarray(0, Math.min(HEAD, this.#filled)))
    const cause = args.mimeType ? mimeFault(args.mimeType, this.#type) : undefined
    if (cause) fail({ phase: 'validating mime type', cause, code: 'MIME', status: response.status, retriable: false })
  }

  #lookAtImage(): void {
    const { args, response } = this.#source
    if (args.imageSize) this.#image = imageSize(this.#part.subarray(0, this.#filled), this.#type, response.status)
  }

  /** The Content-Length of an encoded body is the length before decoding, so such a body is not checked. */
  #checkLength(): void {
    const { headers, status } = this.#source.response
    const declared = headers.get('content-encoding') ? null : headers.get('content-length')
    if (declared === null || Number(declared) === this.#size) return
    const cause = `unexpected EOF: received ${this.#size} of ${declared} bytes`
    fail({ phase: 'downloading file', cause, code: 'BODY', status, retriable: true })
  }
}

const [MIN_DECODED_LIMIT, MAX_DECODED_RATIO] = [1_048_576, 200]

function unfolded({ headers }: Response): number {
  const sent = headers.get('content-encoding') ? headers.get('content-length') : null
  return sent === null ? Number.POSITIVE_INFINITY : Math.max(MIN_DECODED_LIMIT, MAX_DECODED_RATIO * Number(sent))
}

function checkSize({ response, maxSize }: Source, size: number): void {
  const most = Math.min(maxSize, unfolded(response))
  if (size <= most) return
  const cause =
    most === maxSize ? `the body is larger than ${most} bytes` : `the decoded body is larger than ${most} bytes`
  fail({ phase: 'downloading file', cause, code: 'TOO_LARGE', status: response.status, retriable: false })
}

export async function store(source: Source): Promise<Looked> {
  const { response, job } = source
  const taking = new Taking(source)
  const reader = response.body?.getReader({ mode: 'byob' })
  try {
    checkSize(source, Number(response.headers.get('content-length') ?? 0))
    while (reader && (await taking.more(reader))) job.signal.throwIfAborted()
    return await taking.end()
  } catch (error) {
    await taking.abort()
    await reader?.cancel().catch(() => undefined)
    if (isOurs(error)) throw error
    const cause = `unexpected EOF: ${causeOf(error).message}`
    return fail({ phase: 'downloading file', cause, code: 'BODY', status: response.status, retriable: true }, error)
  }
}
