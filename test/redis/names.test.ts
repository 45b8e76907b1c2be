import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { keptSteps } from '../../src/core/series.ts'
import { dayFields, jobFields, laneFields, limitFields, queueFields } from '../../src/redis/keys.ts'
import { decodeDay, decodeLimit, decodeQueue, decodeRecord, leftOut } from '../../src/redis/record.ts'

const root = resolve(import.meta.dirname, '../..')
const fields = { ...jobFields, ...queueFields, ...limitFields }

/** Excludes the build, which writes the short names, and files that contain their own Lua. */
const files = ['src', 'functions', 'infra', 'test', 'examples']
  .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  .filter(
    (file) =>
      !/^(src\/redis\/|infra\/lua-build|test\/heavy\/chaos\/redis|test\/infra\/lua-|test\/redis\/names)/.test(file),
  )

const found = (pattern: RegExp): string[] =>
  files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(pattern)].map(([line]) => `${file}: ${line.trim()}`),
  )

test('scripts read fields of records by long names, which the build shortens', () => {
  const folder = join(root, 'src/redis/lua')
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.lua'))
  const short = sources.flatMap((file) =>
    [
      ...readFileSync(join(folder, file), 'utf8').matchAll(
        /\b(?:\w*doc|owner|holder|record|\w+_record|settings)\.[a-z]{1,2}\b(?!\()/g,
      ),
    ]
      .map(([found]) => `${file}: ${found}`)
      .filter((found) => !found.endsWith('.id')),
  )
  expect(short).toEqual([])
})

test('a field has the same short name in all records', () => {
  const all = [jobFields, queueFields, limitFields, laneFields, dayFields].flatMap((table) => Object.entries(table))
  const short = new Map(all.map(([name, [text]]) => [name, text]))
  expect(all.filter(([name, [text]]) => short.get(name) !== text)).toEqual([])
})

test('no file outside of src/redis reads a field of a record by a name of one or two letters', () => {
  expect(found(/\b(?:document|doc|record|settings)[!?]?\??\.(?!id\b|at\b|on\b|ts\b|md\b)[a-zA-Z]\w?\b(?!\()/g)).toEqual(
    [],
  )
})

test('no file names a destructured field of a record with one or two letters', () => {
  const long = Object.keys(fields).join('|')
  const taken = `\\b(?:${long}): [a-z]\\w?\\b`
  expect(found(new RegExp(`(?:const|let) \\{[^}]*${taken}[^}]*\\} =`, 'g'))).toEqual([])
  expect(found(new RegExp(`\\{[^{}]*${taken}[^{}]*\\}: (?:JobRecord|QueueRecord|LimitRecord)`, 'g'))).toEqual([])
})

test('records of jobs, queues, limits and days are read by their long names', () => {
  expect(decodeRecord('{"n":"1","q":"mail","c":"send","le":"17"}', ['a', '[1]'])).toEqual({
    sequence: '1',
    queue: 'mail',
    class: 'send',
    leaseUntil: 17,
    args: '[1]',
  })
  expect(decodeQueue('{"ml":8,"m":"pull","c":{"runs":1},"wh":[1,2]}')).toEqual({
    mostLanes: 8,
    mode: 'pull',
    counts: { runs: 1 },
    dayWaits: [1, 2],
  })
  expect(decodeLimit('{"c":8,"r":3,"p":1000,"a":2,"turn:1,x":4}')).toEqual({
    concurrency: 8,
    rate: 3,
    period: 1_000,
    promised: 2,
    'turn:1,x': 4,
  })
  expect(decodeDay('{"mail":{"c":{"runs":2},"w":[2]}}')).toEqual({ mail: { counts: { runs: 2 }, waits: [2] } })
})

test('scripts keep the same number of minutes and hours of counts that the API shows', () => {
  const source = readFileSync(join(root, 'src/redis/lua/lib/queue/counts.lua'), 'utf8')
  const kept = (name: string) => Number(new RegExp(`${name} = (\\d+)`).exec(source)?.[1])
  expect({ minute: kept('MINUTES'), hour: kept('HOURS') }).toEqual(keptSteps)
})

test('no two fields of a record have the same short name', () => {
  for (const [record, named] of Object.entries({ jobFields, queueFields, limitFields, laneFields, dayFields })) {
    const shorts = Object.values(named).map(([short]) => short)
    expect(
      shorts.filter((short, i) => shorts.indexOf(short) !== i),
      record,
    ).toEqual([])
  }
})

test('users’ texts that equal the mark of a value remain texts', () => {
  const chosen = Object.entries(jobFields).filter(([, [, , kind]]) => kind === 'text')
  const marked = Object.fromEntries([...chosen, ['args', jobFields.args] as const].map(([, [short]]) => [short, '^']))
  expect(leftOut(decodeRecord(JSON.stringify(marked)))).toEqual([['args', 'a']])
})
