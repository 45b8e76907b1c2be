// Reads a body whole, but never more of it than is allowed.

/** What a stream holds; undefined when that is more than `most`. Up to `readOn` bytes are read and thrown away then. */
export async function readUpTo(
  stream: ReadableStream<Uint8Array> | null,
  most: number,
  readOn = most,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream ?? []) {
    size += chunk.length
    if (size <= most) chunks.push(chunk)
    else if (size > readOn) return undefined
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
