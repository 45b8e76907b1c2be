type Bytes = ReadableStream<Uint8Array>
type Reader = { read: (size: number) => Promise<Uint8Array | undefined>; cancel: () => Promise<void> }

const FIRST_READ = 8_192
const MAX_READ = 1_048_576
/** Maximum bytes to reserve for an announced length, so that a false length does not use memory. */
const MAX_ANNOUNCED_READ = 131_072

/** Uses byte streams if possible: in workerd, they fill the given buffer, while other streams return small chunks. */
function readerOf(stream: Bytes): Reader {
  try {
    const reader = stream.getReader({ mode: 'byob' })
    const read = async (size: number) => {
      const { value, done } = await reader.read(new Uint8Array(size))
      return done ? undefined : value
    }
    return { read, cancel: () => reader.cancel() }
  } catch {
    const reader = stream.getReader()
    return { read: async () => (await reader.read()).value, cancel: () => reader.cancel() }
  }
}

function asking(declared: number): (size: number) => number {
  let ask = FIRST_READ / 2
  return (size) => {
    if (size < declared) return Math.min(declared - size, MAX_ANNOUNCED_READ)
    ask = Math.min(ask * 2, MAX_READ)
    return ask
  }
}

/** Returns undefined for a body of more than `most` bytes, but still reads up to `readOn` bytes of it. */
export async function readUpTo(
  stream: Bytes | null,
  most: number,
  { readOn = most, declared = 0 } = {},
): Promise<Uint8Array | undefined> {
  if (!stream) return new Uint8Array()
  const { read, cancel } = readerOf(stream)
  const ask = asking(declared)
  const chunks: Uint8Array[] = []
  let size = 0
  for (let chunk = await read(ask(0)); chunk; chunk = await read(ask(size))) {
    size += chunk.length
    if (size <= most) chunks.push(chunk)
    else if (size > readOn) {
      await cancel()
      return undefined
    }
  }
  if (size > most) return undefined
  return chunks.length === 1 ? chunks[0] : joined(chunks)
}

export function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

const encoder = new TextEncoder()

export const bytesOf = (text: string) => encoder.encode(text).length
