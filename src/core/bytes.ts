// Reads a body whole, but never more of it than is allowed.

type Bytes = ReadableStream<Uint8Array>
/** `size`: how much it may take at once. Undefined at the end. */
type Reader = { read: (size: number) => Promise<Uint8Array | undefined>; cancel: () => Promise<void> }

/** So much is asked for first, and twice as much each time: most bodies are small, and each question to a stream costs. */
const FIRST = 8_192
const LARGEST = 1_048_576

/** A stream of bytes fills what it is given, in workerd with as much as has come; others give chunk by chunk. */
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

/** What a stream holds; undefined when that is more than `most`. Up to `readOn` bytes are read and thrown away then. */
export async function readUpTo(stream: Bytes | null, most: number, readOn = most): Promise<Uint8Array | undefined> {
  if (!stream) return new Uint8Array()
  const { read, cancel } = readerOf(stream)
  const chunks: Uint8Array[] = []
  let [size, ask] = [0, FIRST]
  for (let chunk = await read(ask); chunk; chunk = await read(ask)) {
    size += chunk.length
    if (size <= most) chunks.push(chunk)
    else if (size > readOn) {
      await cancel()
      return undefined
    }
    ask = Math.min(ask * 2, LARGEST)
  }
  if (size > most) return undefined
  return chunks.length === 1 ? chunks[0] : joined(chunks, size)
}

function joined(chunks: Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
