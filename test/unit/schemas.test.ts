import { expect, test } from 'vitest'
import * as z from 'zod'
import { CLOSED, each, list, OPEN, parseJson } from '../../src/core/codec/json.ts'
import { changes, snapshot } from '../../src/core/run.ts'
import {
  closed,
  closedIn,
  jobInput,
  jobInputs,
  jobQuery,
  moment,
  places,
  portName,
  queueName,
  ref,
  span,
} from '../../src/core/schemas.ts'

test('a job is read with durations and times in milliseconds, and with closed values', () => {
  const text = `{ "class": "zip", "args": { "n": 1.0 }, "in": { "left": { "default": [ ] } }, "inputs": { "left": [1, "a"] },
    "at": "2027-01-15T08:00:00Z", "timeout": "1m", "keepResult": "1h", "retry": { "max": 3, "backoff": "10s" }, "parent": 7 }`
  expect(jobInput.parse(parseJson(text, closedIn(jobInput)))).toEqual({
    queue: 'default',
    class: 'zip',
    args: '{ "n": 1.0 }',
    in: { left: { default: '[ ]' } },
    inputs: { left: ['1', '"a"'] },
    at: 1_800_000_000_000,
    timeout: 60_000,
    keepResult: 3_600_000,
    retry: { max: 3, backoff: { base: 10_000 } },
    parent: '7',
  })
})

test('the places of closed values follow from the shape', () => {
  const shape = z.object({
    a: closed,
    b: z.record(z.string(), z.array(closed)).optional(),
    c: z.string(),
    d: moment.nullable(),
  })
  expect(places(shape)).toEqual({
    members: { a: 'closed', b: { each: { items: 'closed' } }, d: 'moment' },
  })
  expect(closedIn(shape)).toEqual({ a: CLOSED, b: each(list(CLOSED)), d: OPEN })
})

test('a moment, a duration or a value with its own description is found too', () => {
  const described = { at: moment.meta({ description: 'x' }), took: span.meta({ description: 'y' }) }
  expect(places(z.object({ ...described, args: closed.meta({ description: 'z' }) }))).toEqual({
    members: { at: 'moment', took: 'span', args: 'closed' },
  })
})

test('the closed places of all options of a union are combined', () => {
  const shape = z.union([z.object({ a: closed }), z.array(z.object({ b: closed }))])
  expect(closedIn(shape)).toEqual({ a: CLOSED, ...list({ b: CLOSED }) })
  expect(() => places(z.object({ x: z.union([closed, z.object({ y: closed })]) }))).toThrow(
    'expected a union whose options all encode a value in the same way',
  )
})

test('every closed value of changes is found', () => {
  const text = `{ "end": "completed", "result": [1.0], "progress": 0.50, "state": { "set": { "k": 1e2 } },
    "error": { "message": "m", "detail": { } }, "reads": { "left": { "cursor": 4, "count": 1 } }, "ops": [
    { "op": "write", "to": { "out": "a" }, "values": [1.0], "context": { } },
    { "op": "default", "of": { "in": "a" }, "value": 1.0 }, { "op": "default", "of": { "in": "a" }, "clear": true },
    { "op": "spawn", "name": "b", "class": "c", "args": 1.0, "inports": { "*": { "default": 1.0 } }, "inputs": { "i": [1.0] } },
    { "op": "publish", "channel": "/a", "message": 1.0 }, { "op": "log", "entry": 1.0 },
    { "op": "ports", "in": { "a": { "default": 1.0 } }, "of": { "child": "b" } }, { "op": "step", "name": "s", "value": 1.0 },
    { "op": "delete", "child": "b", "force": true }, { "op": "terminate", "job": 12 }, { "op": "alias", "remove": "x" } ] }`
  const read = changes.parse(parseJson(text, closedIn(changes)))
  expect(read).toMatchObject({
    result: '[1.0]',
    progress: '0.50',
    state: { set: { k: '1e2' } },
    error: { detail: '{ }' },
    ops: [
      { values: ['1.0'], context: '{ }' },
      { value: '1.0' },
      { clear: true },
      { args: '1.0', inports: { '*': { default: '1.0' } }, inputs: { i: ['1.0'] } },
      { message: '1.0' },
      { entry: '1.0' },
      { in: { a: { default: '1.0' } } },
      { value: '1.0' },
      { op: 'delete', child: 'b', force: true },
      { op: 'terminate', job: 12 },
      { op: 'alias', remove: 'x' },
    ],
  })
})

test('a snapshot has closed values in args, state, ports and steps', () => {
  expect(places(snapshot)).toMatchObject({
    members: {
      job: { members: { args: 'closed' } },
      state: { each: 'closed' },
      in: { each: { members: { values: { items: { members: { data: 'closed', context: 'closed' } } } } } },
      steps: { each: 'closed' },
    },
  })
})

test.each([
  [queueName, ['core', 'é'.repeat(127), 'a b'], ['', 'a/b', 'a:b', 'a\n', 'é'.repeat(128), '\ud800']],
  [portName, ['left', '_1', 'x'.repeat(100)], ['', '*', 'a-b', 'é', 'x'.repeat(101)]],
  [ref, ['7', 7, 'nightly'], ['', '0', '01', '1abc', 0, 1.5, -1, null]],
])('names are checked', (schema, good, bad) => {
  for (const name of good) expect(schema.safeParse(name).success, String(name)).toBe(true)
  for (const name of bad) expect(schema.safeParse(name).success, String(name)).toBe(false)
})

// Tests share two cores, so the bound is higher than the usual 2 ms (4 ms in workerd).
test('1,000 jobs of 100 bytes are checked in milliseconds', () => {
  const jobs = Array.from({ length: 1_000 }, (_, i) => ({
    class: 'zip',
    args: `{"n":${i}}`,
    priority: 1,
    unique: `k${i}`,
  }))
  const took = Array.from({ length: 24 }, () => {
    const start = performance.now()
    jobInputs.parse(jobs)
    return performance.now() - start
  })
  expect(Math.min(...took)).toBeLessThan(50)
})

test('only ended jobs can be sorted by their ends, with a cursor of this order', () => {
  const sorted = (query: object) => jobQuery.safeParse({ sort: 'ended', ...query })
  expect(sorted({ status: 'failed,completed', queue: 'q', cursor: '1800000000000.7.0' }).success).toBe(true)
  expect(jobQuery.safeParse({ sort: 'made', status: 'running', cursor: '7' }).success).toBe(true)
  const refused = (query: object) => jobQuery.safeParse(query).error?.issues.map(({ path }) => path[0])
  expect(refused({ sort: 'ended', status: 'failed,running' })).toEqual(['status'])
  expect(refused({ sort: 'ended', cursor: '7' })).toEqual(['cursor'])
  expect(refused({ cursor: '1.7.0' })).toEqual(['cursor'])
  for (const name of ['text', 'error', 'parent', 'alias'])
    expect(refused({ sort: 'ended', [name]: name === 'parent' ? '7' : 'abc' }), name).toContain(name)
})
