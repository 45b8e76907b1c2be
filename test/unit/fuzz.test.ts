// Tests with random inputs. SIDEJOB_TEST_FUZZ=<n> multiplies their number by n.

import * as fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { decode, elements } from '../../infra/stand-ins/resp.ts'
import { lenient, OPEN, parseJson } from '../../src/core/codec/json.ts'
import { writeJson } from '../../src/core/codec/json-writer.ts'
import { parseMsgpack } from '../../src/core/codec/msgpack-reader.ts'
import { writeMsgpack } from '../../src/core/codec/msgpack-writer.ts'
import { decodeValue, type Encoded, encodedToJson, encodedToMsgpack, encodeValue } from '../../src/core/codec/value.ts'
import { SidejobError } from '../../src/core/errors.ts'
import { cronRule } from '../../src/core/repeat/cron.ts'
import { itemOf, itemText } from '../../src/redis/item.ts'
import { ownOf, ownWords } from '../../src/redis/packed-jobs.ts'
import { createVault } from '../../src/redis/vault.ts'

const times = Number(process.env.SIDEJOB_TEST_FUZZ ?? 1)
const BUDGET_MS = 1_500 * times
vi.setConfig({ testTimeout: 10 * BUDGET_MS + 10_000 })

const holds = <T>(arbitrary: fc.Arbitrary<T>, is: (value: T) => void, runs = 300): void =>
  fc.assert(
    fc.property(arbitrary, (value) => void is(value)),
    { numRuns: runs * times, interruptAfterTimeLimit: BUDGET_MS, markInterruptAsFailure: false },
  )

function readOrRefused<T>(read: () => T): { value: T } | undefined {
  try {
    return { value: read() }
  } catch (error) {
    expect(error).toBeInstanceOf(SidejobError)
    return undefined
  }
}

const text = fc.string({ unit: 'binary', maxLength: 50 })
const nearJson = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0123eE+-.tfn\u0000 \ud800'), maxLength: 40 }),
  fc.tuple(fc.json(), fc.nat(), fc.string({ maxLength: 2 })).map(([json, at, other]) => {
    const place = at % (json.length + 1)
    return json.slice(0, place) + other + json.slice(place + 1)
  }),
)

describe('JSON', () => {
  test('is read as JavaScript reads it, and written so that it reads the same', () => {
    holds(fc.json({ maxDepth: 5 }), (json) => {
      const value = parseJson(json, OPEN, { builder: lenient })
      expect(value).toEqual(JSON.parse(json))
      expect(JSON.parse(writeJson(value))).toEqual(JSON.parse(json))
    })
  })

  test('that is damaged is refused exactly where JavaScript refuses it', () => {
    holds(nearJson, (json) => {
      const read = readOrRefused(() => parseJson(json, OPEN, { builder: lenient }))
      let expected: { value: unknown } | undefined
      try {
        expected = { value: JSON.parse(json) }
      } catch {}
      expect(read).toEqual(expected)
    })
  })
})

const valueWith = (numbers: fc.Arbitrary<number>): fc.Arbitrary<unknown> =>
  fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, true, false, Number.NaN, Number.POSITIVE_INFINITY),
      fc.integer(),
      numbers,
      fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }),
      text,
      fc.uint8Array({ maxLength: 40 }),
      fc.array(tie('value'), { maxLength: 5 }),
      fc.dictionary(
        text.filter((name) => name !== '__proto__'),
        tie('value'),
        { maxKeys: 5, noNullPrototype: true },
      ),
    ),
  })).value
const value = valueWith(fc.oneof(fc.double(), fc.constant(-0)))
/** JSON.stringify writes -0 as 0. */
const closable = valueWith(fc.double().map((n) => (n === 0 ? 0 : n)))

describe('MessagePack', () => {
  test('a value that is written is read back', () => {
    holds(value, (one) => expect(parseMsgpack(writeMsgpack(one), OPEN, { builder: lenient })).toEqual(one))
  })

  test('bytes that are not MessagePack are refused', () => {
    const damaged = fc
      .tuple(value, fc.nat(), fc.nat(255))
      .map(([one, at, byte]) => writeMsgpack(one).map((was, i, all) => (i === at % all.length ? byte : was)))
    holds(fc.oneof(fc.uint8Array({ maxLength: 60 }), damaged), (bytes) => {
      readOrRefused(() => parseMsgpack(bytes, OPEN, { builder: lenient }))
    })
  })

  test('a closed value is the same value again, and can leave in both formats', () => {
    holds(closable, (one) => {
      const closed = encodeValue(one)
      expect(decodeValue(closed)).toEqual(one)
      JSON.parse(encodedToJson(closed))
      encodedToMsgpack(closed)
    })
  })
})

describe('cron', () => {
  const field = fc.oneof(
    fc.constantFrom(
      '*',
      '*/5',
      '1',
      '1-5',
      '1,3',
      'L',
      '?',
      'MON',
      '31',
      '59',
      '1-5/2',
      '5#2',
      '15W',
      '0',
      '99',
      '-',
      '*/0',
    ),
    fc.string({ unit: fc.constantFrom(...'0123456789*/,-LW#?MONJAN'), minLength: 1, maxLength: 5 }),
  )
  const pattern = fc.array(field, { minLength: 4, maxLength: 7 }).map((fields) => fields.join(' '))
  const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe')

  test('a pattern is refused, or its slots follow each other', () => {
    const from = Date.UTC(2026, 2, 28, 23, 59, 59)
    holds(
      fc.tuple(pattern, zone),
      ([given, tz]) => {
        const rule = readOrRefused(() => cronRule(given, tz))?.value
        for (let at = from, n = 0; rule && n < 3; n++) {
          const next = rule.next(at)
          if (Number.isNaN(next)) return
          expect(next).toBeGreaterThan(at)
          at = next
        }
      },
      100,
    )
  })
})

describe('RESP', () => {
  const bulk = (bytes: Buffer) => Buffer.concat([Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n')])
  type Written = { reply: unknown; raw: Buffer }
  const reply: fc.Arbitrary<Written> = fc.letrec<{ reply: Written }>((tie) => ({
    reply: fc.oneof(
      { maxDepth: 3 },
      fc.uint8Array({ maxLength: 30 }).map((bytes) => ({ reply: Buffer.from(bytes), raw: bulk(Buffer.from(bytes)) })),
      fc.maxSafeInteger().map((n) => ({ reply: n, raw: Buffer.from(`:${n}\r\n`) })),
      fc.constant({ reply: null, raw: Buffer.from('$-1\r\n') }),
      fc.array(tie('reply'), { maxLength: 4 }).map((all) => ({
        reply: all.map((one) => one.reply),
        raw: Buffer.concat([Buffer.from(`*${all.length}\r\n`), ...all.map((one) => one.raw)]),
      })),
    ),
  })).reply

  test('a reply is read as it was written, and an array is split into its replies', () => {
    holds(reply, ({ reply: expected, raw }) => {
      expect(decode(raw)).toEqual(expected)
      if (Array.isArray(expected)) expect(elements(raw).map(decode)).toEqual(expected)
    })
  })
})

describe('pieces', () => {
  const closed = value.map((one) => encodeValue(one))
  const item = fc
    .record({
      data: closed,
      context: fc.option(
        fc.json().map((json) => json as Encoded),
        { nil: undefined },
      ),
    })
    .map((given) => itemText(given))
  const vaults = [createVault(), createVault({ keys: [new Uint8Array(32).fill(7)] })]

  test('an item is read back unchanged, sealed or not', () => {
    holds(fc.tuple(closed, fc.string({ maxLength: 20 })), ([data, channel]) => {
      const made = { data, ...(/[\r\n]/.test(channel) || !channel ? {} : { channel }) }
      for (const { sealItem, open } of vaults) expect(itemOf(open.item(sealItem(itemText(made))))).toEqual(made)
    })
  })

  test('args and values of packed jobs are each read back unchanged', () => {
    holds(fc.tuple(closed, fc.array(item, { minLength: 1, maxLength: 3 })), ([args, items]) => {
      for (const vault of vaults) {
        const own = ownOf({ inputs: { in: items } }, vault.sealSame(args, 'args'), vault)
        if (!own) continue
        const [texts, ports] = ownWords([own]).map((word) => JSON.parse(word))
        expect(vault.open.value(texts[0], 'args')).toBe(args)
        expect((JSON.parse(ports['vi:in'][0]) as string[]).map(vault.open.item)).toEqual(items)
      }
    })
  })
})
