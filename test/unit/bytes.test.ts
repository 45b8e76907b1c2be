import { expect, test } from 'vitest'
import { readUpTo } from '../../src/core/bytes.ts'

const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes)

/** A byte stream, as in a request, and a plain stream. `taken`: chunks that were read. */
function streams(chunks: string[]) {
  const made = (type?: 'bytes') => {
    const told = { taken: 0, isCancelled: false }
    const left = chunks.values()
    const source = {
      pull(controller: {
        enqueue(chunk: Uint8Array): void
        close(): void
        byobRequest?: ReadableStreamBYOBRequest | null
      }) {
        const { value } = left.next()
        if (value === undefined) {
          controller.close()
          controller.byobRequest?.respond(0)
          return
        }
        told.taken++
        controller.enqueue(new TextEncoder().encode(value))
      },
      cancel() {
        told.isCancelled = true
      },
    }
    const stream = new ReadableStream<Uint8Array>({ type, ...source } as UnderlyingDefaultSource<Uint8Array>)
    return { stream, told }
  }
  return { 'of bytes': made('bytes'), 'of chunks': made() }
}
const kinds = ['of bytes', 'of chunks'] as const

test.each(kinds)('a stream %s is read whole', async (kind) => {
  expect(text(await readUpTo(streams(['ab', 'c', 'def'])[kind].stream, 6))).toBe('abcdef')
  const long = Array.from({ length: 40 }, (_, i) => `${i}`.repeat(5_000))
  expect(text(await readUpTo(streams(long)[kind].stream, 1_000_000))).toBe(long.join(''))
  expect(await readUpTo(streams([])[kind].stream, 6)).toEqual(new Uint8Array())
})

test.each(kinds)('an overlong stream %s returns nothing and is not read to the end', async (kind) => {
  const { stream, told } = streams(Array.from({ length: 100 }, () => '0123456789'))[kind]
  expect(await readUpTo(stream, 15, { readOn: 50 })).toBeUndefined()
  expect(told.isCancelled).toBe(true)
  expect(told.taken).toBeLessThan(10)
  expect(await readUpTo(streams(['0123456789', 'x'])[kind].stream, 10, { readOn: 50 })).toBeUndefined()
})

test.each(kinds)('a stream %s is read whole, whatever length is announced', async (kind) => {
  for (const said of [-1, 1, 6, 7, 1e15]) {
    expect(text(await readUpTo(streams(['ab', 'c', 'def'])[kind].stream, 6, { declared: said }))).toBe('abcdef')
    expect(await readUpTo(streams(['ab', 'c', 'def'])[kind].stream, 5, { declared: said })).toBeUndefined()
  }
})

test('memory grows with received bytes, not with the announced length', async () => {
  const asked: number[] = []
  const stream = new ReadableStream({
    type: 'bytes',
    pull(controller) {
      asked.push(controller.byobRequest!.view!.byteLength)
      if (asked.length === 3) controller.close()
      controller.byobRequest!.respond(asked.length === 3 ? 0 : 100)
    },
  })
  expect(await readUpTo(stream, 1e9, { declared: 131_172 })).toHaveLength(200)
  expect(asked).toEqual([131_072, 131_072, 130_972])
})

test('no stream is an empty body', async () => {
  expect(await readUpTo(null, 1)).toEqual(new Uint8Array())
})
