import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { core } from '../../functions/core.ts'
import { lineOf } from '../../src/dev/lines.ts'
import { defineWorker } from '../../src/index.ts'
import { startReceiver } from '../kit/receiver.ts'
import { blockAt } from './blocks.ts'
import { type Site, startSite } from './site.ts'
import { readers } from './snippet.ts'

const report = defineWorker({
  class: 'report',
  result: z.object({ pages: z.number() }),
  perform: () => ({ pages: 12 }),
})

let site: Site
beforeAll(async () => {
  const { double } = await readers()
  site = await startSite([report, double!, ...core])
})
afterAll(() => site.close())

const shown = (page: string, start: string) => JSON.parse(blockAt(page, start).text)

test('docs/callbacks.md shows the body of a callback', async () => {
  const receiver = await startReceiver((_, response) => response.end())
  await site.from(7)
  await site.client.jobs.enqueue({ class: 'report', callback: { url: receiver.url } })
  await expect.poll(() => receiver.came.length).toBe(1)
  const body = JSON.parse(String(receiver.came[0]!.body))
  const page = shown('docs/callbacks.md', '{\n  "id": 7')
  expect({ ...body, finishedAt: page.finishedAt }).toEqual(page)
  await receiver.close()
})

test('docs/schemas.md shows how a job is refused', async () => {
  const made = site.client.jobs.enqueue({ class: 'double', inputs: { n: [1, 'x'] } })
  await expect(made).rejects.toThrow(blockAt('docs/schemas.md', 'inputs.n[1]').text.trim())
})

test('docs/entry.md shows the lines of sidejob dev', () => {
  const locate = () => ({ file: 'src/jobs/double.ts', line: 12, column: 5 })
  const said = [
    { sidejob: 'run', job: 458, class: 'double', outcome: 'completed', ms: 3 },
    {
      sidejob: 'run',
      job: 459,
      class: 'double',
      outcome: 'failed',
      ms: 12,
      error: { message: 'I do not like x', stack: 'Error: I do not like x\n    at perform (worker.js:7:9)' },
    },
    { sidejob: 'console', job: 460, class: 'double', level: 'log', text: 'the output of the function' },
  ]
  const lines = said.map((one) => lineOf(JSON.stringify(one), locate as never))
  expect(`${lines.join('\n')}\n`).toBe(blockAt('docs/entry.md', '✓ double').text)
})

const membersOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, 1).map(membersOf)
  if (value === null || typeof value !== 'object') return typeof value === 'object' ? null : '…'
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, membersOf(one)]))
}

test('docs/flows.md shows the answer of a change, and the record of a flow', async () => {
  const { flows, jobs, ports } = site.client
  const node = (name: string) => ({ queue: 'core', class: name })
  const graph = {
    nodes: { sum: node('array'), old: node('wait') },
    edges: [{ from: { node: 'sum', outport: 'out' }, to: { node: 'old', inport: 'in' } }],
    inports: { in: { node: 'sum', inport: 'in' } },
  }
  const { id } = await jobs.enqueue({ queue: 'core', class: 'flow', args: { graph } } as never)
  await site.reaches(id, 'completed')
  await flows.record(id, { keep: '2h' })
  await ports.write(id, 'in', 'in', { values: [1, 2] })
  const waits = async () => (await flows.get(id)).wires.find(({ id }) => id === 'sum.out>old.in')?.size
  await expect.poll(waits, { timeout: 10_000 }).toBe(2)
  const changed = await flows.setGraph(id, {
    nodes: { sum: node('array'), audit: { ...node('array'), init: true } },
    edges: [{ from: { node: 'sum', outport: 'out' }, to: { node: 'audit', inport: 'in' } }],
    inports: { in: { node: 'sum', inport: 'in' } },
  } as never)
  const page = shown('docs/flows.md', '{\n  "applied"')
  const job = (changed as typeof page).stop[0].job
  expect(JSON.parse(JSON.stringify(changed).replaceAll(`:${job}`, ':12'))).toEqual(page)
  const record = await flows.events(id)
  const { moves, counts } = {
    moves: record.events.flatMap(({ moves }) => moves).filter(({ node, run }) => node && run),
    counts: record.events.flatMap(({ counts }) => counts).filter(({ node }) => node),
  }
  const event = { ...record.events[0], moves, counts }
  expect(membersOf({ ...record, events: [event] })).toEqual(membersOf(shown('docs/flows.md', '{\n  "keep"')))
})
