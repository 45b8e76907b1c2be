import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { core } from '../../../functions/core.ts'
import type { Order } from '../../../src/testing/index.ts'
import { startFlow } from '../../engine/flows/kit.ts'
import { type Kit, startKit } from '../../kit/index.ts'
import { SEEDS } from '../../kit/orders.ts'
import { startWorkerd, type Workerd } from '../workerd/kit.ts'

const folder = join(import.meta.dirname, '../../../examples')
const read = (path: string) => readFileSync(join(folder, path), 'utf8')

const series = [1, 1, 2, 3, 5, 8, 13, 21]
// Large numbers need a hundred slow runs of jq, so short tests use small numbers.
const first = series.slice(0, SEEDS < 100 ? 3 : 8)
const alone = SEEDS < 100 ? 5 : 6
const csv = read('etl/orders.csv')

function counted() {
  const rows = csv
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','))
  const totals = new Map<string, { country: string; orders: number; amount: number }>()
  const rejected: { id: string; error: string }[] = []
  for (const [id, , country, , quantity, price] of rows as [string, string, string, string, string, string][]) {
    if (Number.isNaN(Number(price))) rejected.push({ id, error: 'not a number' })
    else if (Number(quantity) <= 0) rejected.push({ id, error: 'nothing was ordered' })
    else {
      const total = totals.get(country) ?? { country, orders: 0, amount: 0 }
      totals.set(country, {
        country,
        orders: total.orders + 1,
        amount: total.amount + Number(quantity) * Number(price),
      })
    }
  }
  const rounded = [...totals.values()].map((total) => ({ ...total, amount: Math.round(total.amount * 100) / 100 }))
  return { totals: rounded.sort((a, b) => (a.country < b.country ? -1 : 1)), rejected }
}

describe('in every order', () => {
  let kit: Kit
  beforeAll(async () => {
    kit = await startKit({ hold: true, workers: core })
  })
  afterAll(() => kit.close())

  async function fibonacci(order: Order, requests: number[][]) {
    const flow = await startFlow(kit, JSON.parse(read('fibonacci/graph.json')), order)
    const answers: unknown[][] = []
    for (const ns of requests) {
      await flow.run({ n: ns })
      answers.push((await flow.take('result')).sort((a, b) => Number(a) - Number(b)))
    }
    expect(await flow.status()).toBe('completed')
    return answers
  }

  const orders: Order[] = ['fifo', 'lifo']

  test.each(orders)('fibonacci, %s: one after the other, one alone, three at once', async (order) => {
    expect(
      await fibonacci(
        order,
        first.map((_, i) => [i + 1]),
      ),
    ).toEqual(first.map((value) => [value]))
    expect(await fibonacci(order, [[alone]])).toEqual([[series[alone - 1]]])
    expect(await fibonacci(order, [[3, 4, 5]])).toEqual([[2, 3, 5]])
  })

  test('fibonacci in random orders', { timeout: 600_000 }, async () => {
    for (let seed = 0; seed < SEEDS; seed++)
      expect(await fibonacci({ seed }, [[3], [4]]), `seed ${seed}`).toEqual([[2], [3]])
    for (let seed = 0; seed < SEEDS / 10; seed++)
      expect(await fibonacci({ seed }, [[3, 4, 5]]), `seed ${seed}`).toEqual([[2, 3, 5]])
  })

  test.each([...orders, { seed: 1 }, { seed: 2 }])('orders, %s', async (order) => {
    const flow = await startFlow(kit, JSON.parse(read('etl/graph.json')), order)
    await flow.run({ text: [csv] })
    const { totals, rejected } = counted()
    expect(rejected).toHaveLength(4)
    expect(await flow.take('totals')).toEqual([totals])
    expect(await flow.take('rejected')).toEqual(rejected)
  })
})

describe('through the started stack', () => {
  let stack: Workerd
  beforeAll(async () => {
    stack = await startWorkerd()
  }, 60_000)
  afterAll(() => stack.close())

  async function run(...words: string[]) {
    const child = spawn(process.execPath, words, {
      cwd: join(folder, '..'),
      env: { ...process.env, SIDEJOB_URL: stack.stack.url, SIDEJOB_API_KEY: stack.stack.apiKey },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const exit = new Promise((resolve) => child.once('close', resolve))
    const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr)])
    expect(await exit, complained).toBe(0)
    expect(complained).toMatch(new RegExp(`^its flow: ${stack.stack.url}/ui/flows/\\d+$`, 'm'))
    return said.trim().split('\n')
  }

  test('fibonacci', { timeout: 90_000 }, async () => {
    const said = await run('examples/fibonacci/run.ts', ...series.map((_, i) => String(i + 1)))
    expect(said).toEqual(series.map((value, i) => `fibonacci(${i + 1}) = ${value}`))
  })

  test('orders', { timeout: 90_000 }, async () => {
    const { totals, rejected } = counted()
    expect(await run('examples/etl/run.ts', 'examples/etl/orders.csv')).toEqual([
      ...totals.map(({ country, orders, amount }) => `${country} ${orders} ${amount.toFixed(2)}`),
      ...rejected.map(({ id, error }) => `rejected ${id}: ${error}`),
    ])
  })
})
