// What some engine would not take is refused with its line; put back into our scripts one by one, it is found.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { buildScripts, refusedScripts } from '../../infra/build-lua.ts'
import { shortenFields } from '../../infra/lua-records.ts'
import { refusedIn } from '../../infra/lua-rules.ts'
import { moveNames, reached, unitsOf } from '../../infra/lua-units.ts'

const root = join(import.meta.dirname, '../../src/redis/lua')

test('our scripts say nothing that some engine would not take', () => expect(refusedScripts()).toEqual([]))

const traps: [what: string, file: string, find: string, replace: string, says: RegExp][] = [
  [
    'a cache by numbers',
    'lib/runtime/base.lua',
    'numerals[0 - n] = text',
    'numerals[n] = text',
    /number without a bound/,
  ],
  [
    'a time as an index',
    'lib/fast/plain.lua',
    'local lent = 0',
    'local lent = {}\nlent[this_minute] = 1',
    /number without a bound/,
  ],
  [
    'a concatenation in the last choice',
    'lib/queue/waiters.lua',
    "part = part .. (is_plain and '' or '%') .. character",
    "part = part .. (is_plain and character or '%' .. character)",
    /a concatenation as the last choice/,
  ],
  [
    'a match as the last argument',
    'lib/job/status.lua',
    "tonumber((text:match('^%a+\\n%d+ (%d+)')))",
    "tonumber(text:match('^%a+\\n%d+ (%d+)'))",
    /:match as the last value/,
  ],
  [
    'a find as the last argument',
    'lib/queue/waiters.lua',
    '  return parts\nend',
    "  return select(2, glob:find('x'))\nend",
    /:find as the last value/,
  ],
  [
    'unpack of all that there is',
    'lib/runtime/store.lua',
    'unpack(ask, from, math.min(from + 2399, #ask))',
    'unpack(ask)',
    /unpack of a list without a bound/,
  ],
  [
    'several calls assigned at once',
    'lib/run/ops.lua',
    '    id = doc.parent\n    doc = need(id)\n',
    '    id, doc = doc.parent, need(doc.parent)\n',
    /calls among several values/,
  ],
  [
    'returns of unequal length',
    'lib/port/ports.lua',
    'if not record then return nil, nil, nil end',
    'if not record then return nil end',
    /returns of 1 and 3 values/,
  ],
]

test.each(traps)('%s, put back into %s, is refused with its line', (_, file, find, replace, says) => {
  const text = readFileSync(join(root, file), 'utf8')
  expect(text).toContain(find)
  const [first, ...others] = refusedIn(
    file,
    text.replace(find, () => replace),
  )
  expect([first?.says, others]).toEqual([expect.stringMatching(says), []])
  expect(first!.line).toBeGreaterThanOrEqual(text.slice(0, text.indexOf(find)).split('\n').length - 20)
})

test.each([
  ["local n = tonumber((text:match('%d')))", []],
  ["local n = tonumber(text:match('%d'))", [1]],
  ["local t = {\n  text:gsub('a', 'b')\n}", [1]],
  ["local a, b = text:match('(%d)(%d)')", []],
  ["\nlocal n = tonumber('010')", [2]],
  ["local n = tonumber('010', 10)", []],
])('%j is refused in lines %j', (text, lines) =>
  expect(refusedIn('a.lua', text).map(({ line }) => line)).toEqual(lines),
)

test('two functions of one name in parts of one script are refused', () => {
  const twin = (file: string, text: string) =>
    file === 'lib/queue/order.lua' ? `${text}\nlocal function take_back(q) return q end\n` : text
  expect(() => buildScripts(twin)).toThrow(
    /expected one function take_back, got those of lib\/queue\/lanes\.lua and lib\/queue\/order\.lua/,
  )
})

test('a script has only what it reaches: names, fields, and what is added to lists', () => {
  const units = unitsOf(
    [
      'local lists, ends = {}, {}',
      'function lists.one() return helper() end',
      'function lists.two() end',
      'function helper() end',
      'table.insert(ends, function() return lists.two() end)',
      'function unused() end',
    ].join('\n'),
  )
  const kept = (body: string) => [...reached(units, body)].map((unit) => units.indexOf(unit)).sort()
  expect(kept('return lists.one()')).toEqual([0, 1, 3])
  expect(kept('local lists = {} return lists.one()')).toEqual([])
  expect(kept('return ends')).toEqual([0, 2, 4])
  expect(kept('return lists[name]()')).toEqual([0, 1, 2, 3])
})

test('a name that is moved stays a local where it is one', () =>
  expect(moveNames('local function f(wake) return wake end\nreturn wake(t.wake)', new Set(['wake']), 'far')).toBe(
    'local function f(wake) return wake end\nreturn far.wake(t.wake)',
  ))

// Bytes that no call needs cost each call: queries are small, and nothing grows unseen.
const KIB: Record<string, number> = { breaker: 2, flow: 25, limits: 25, overview: 25, peek: 25, tree: 25, list: 25 }

test.each(Object.entries(KIB))('%s is at most %i KiB', (name, kib) =>
  expect(Buffer.byteLength(buildScripts().scripts.get(name)!.text)).toBeLessThanOrEqual(kib * 1024),
)

describe('the names of fields', () => {
  test('are long in sources and short in scripts', () => {
    const source =
      "change(id, doc, fields.lease_until, doc.token)\nreturn fields { place = 'new', created_at = f({ 1 }) }"
    expect(shortenFields('x.lua', source)).toBe("change(id, doc, 'le', doc.tk)\nreturn { z = 'new', t = f({ 1 }) }")
    expect(shortenFields('x.lua', 'queue(doc.queue).mode, settings.rate, queue_record.lanes')).toBe(
      'queue(doc.q).m, settings.r, queue_record.l',
    )
  })

  test.each([
    ['\nif parent_doc.lease_til then', 'x.lua:2: expected a field of a job (src/redis/keys.ts), got lease_til'],
    ['queue(q).lanez', 'x.lua:1: expected a field of a queue (src/redis/keys.ts), got lanez'],
    ['limit_fields { rat = 1 }', 'x.lua:1: expected a field of a limit (src/redis/keys.ts), got rat'],
  ])('that no record has are refused: %j', (source, error) => {
    expect(() => shortenFields('x.lua', source)).toThrow(error)
  })
})
