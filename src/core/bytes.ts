// Reads a body whole, but never more of it than is allowed.

type Bytes = ReadableStream<Uint8Array>
/** `size`: how much it may take at once. Undefined at the end. */
type Reader = { read: (size: number) => Promise<Uint8Array | undefined>; cancel: () => Promise<void> }

/** So much is asked for first, and twice as much each time: most bodies are small, and each question to a stream costs. */
const FIRST = 8_192
const LARGEST = 1_048_576
/** As much of what a sender says is asked for at once: whoever says much and sends nothing is not given more room than that. */
const SAID = 131_072

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

/** How much to ask a stream for that has given so much: what its sender has said as far as it has not come, else more and more. */
function asking(said: number): (size: number) => number {
  let ask = FIRST / 2
  return (size) => {
    if (size < said) return Math.min(said - size, SAID)
    ask = Math.min(ask * 2, LARGEST)
    return ask
  }
}

/**
 * What a stream holds; undefined when that is more than `most`. Up to `readOn` bytes are read and thrown away then. `said`: how
 * much its sender says it is, which holds for nothing but how much is asked for at once.
 */
export async function readUpTo(
  stream: Bytes | null,
  most: number,
  { readOn = most, said = 0 } = {},
): Promise<Uint8Array | undefined> {
  if (!stream) return new Uint8Array()
  const { read, cancel } = readerOf(stream)
  const ask = asking(said)
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
