// `npm run bench:board` measures the board of a large, busy flow. `--moving 24` limits the number of moving wires, so
// that they have beads. With `--over`, the exit code is 1 if a goal is missed.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { startLocalStack } from '../../../infra/stack.ts'
import { createClient } from '../../../src/client/index.ts'
import { logIn, startBrowser } from '../../dashboard/browser.ts'
import { usedBy } from './cpu.ts'
import { frameWork, type TraceEvent } from './trace.ts'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '200' },
    rows: { type: 'string', default: '6' },
    moving: { type: 'string' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    over: { type: 'boolean', default: false },
  },
})
const [NODES, RATE, ROWS] = [Number(values.nodes), Number(values.rate), Number(values.rows)]
const [SECONDS, ROUNDS] = [Number(values.seconds), Number(values.rounds)]
const FED = values.moving ? Math.max(1, Math.round(Number(values.moving) / (NODES / ROWS + 1))) : ROWS
const GOALS = { frames: 58, cpu: 5 }
const KEY = 'dev'

const name = (row: number, i: number): string => `n${row}_${i}`

function rowsOf(rows: number, long: number) {
  const all = Array.from({ length: rows }, (_, row) => Array.from({ length: long }, (_, i) => name(row, i)))
  const node = { queue: 'core', class: 'connect' }
  return {
    name: 'busy',
    nodes: Object.fromEntries(all.flat().map((one) => [one, node])),
    edges: all.flatMap((row) =>
      row.slice(1).map((to, i) => ({ from: { node: row[i]!, outport: 'out' }, to: { node: to, inport: 'in' } })),
    ),
    inports: Object.fromEntries(all.map((row, r) => [`in${r}`, { node: row[0]!, inport: 'in' }])),
    outports: Object.fromEntries(all.map((row, r) => [`out${r}`, { node: row.at(-1)!, outport: 'out' }])),
  }
}

const dir = mkdtempSync(join(tmpdir(), 'sidejob-board-'))
const stack = await startLocalStack({ dir, apiKey: KEY, persist: false })
const client = createClient({ url: stack.url, key: KEY })

async function feed(flow: number, isOver: () => boolean): Promise<void> {
  for (let n = 0; !isOver(); n++) {
    const began = performance.now()
    const each = Array.from({ length: Math.ceil(RATE / 2 / FED) }, (_, i) => n * 1_000 + i)
    for (let row = 0; row < FED; row++) await client.ports.write(flow, 'in', `in${row}`, { values: each })
    for (let row = 0; row < FED && n % 20 === 19; row++)
      await client.ports.read(flow, 'out', `out${row}`, { max: 10_000 })
    await sleep(Math.max(0, 500 - (performance.now() - began)))
  }
}

function stackPids(): number[] {
  const parents = new Map<number, number>()
  for (const pid of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      if (/\((chrom|headless)/.test(stat)) continue
      parents.set(Number(pid), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
    } catch {}
  }
  const isOurs = (pid: number): boolean => pid === process.pid || (parents.has(pid) && isOurs(parents.get(pid)!))
  return [...parents.keys()].filter(isOurs)
}

const used = (): number => stackPids().reduce((sum, pid) => sum + usedBy(pid), 0)

/** Percent of one core. */
async function cpuOver(seconds: number): Promise<number> {
  const [before, began] = [used(), performance.now()]
  await sleep(seconds * 1_000)
  return (used() - before) / 10 / (performance.now() - began)
}

/** Moves the mouse, so that the page keeps refreshing at its full rate. */
async function look(browser: Browser, flow: number): Promise<Page> {
  const { page } = await logIn(browser, stack.url, KEY, { still: false })
  await page.goto(`${stack.url}/ui/flows/${flow}`)
  await page.waitForSelector('.board .node')
  return page
}

async function framesOf(page: Page, seconds: number): Promise<number> {
  await page.mouse.move(400, 200)
  return page.evaluate(
    (ms) =>
      new Promise<number>((resolve) => {
        let frames = 0
        const end = performance.now() + ms
        const frame = (now: number) => {
          frames += 1
          if (now < end) requestAnimationFrame(frame)
          else resolve((frames / ms) * 1_000)
        }
        requestAnimationFrame(frame)
      }),
    seconds * 1_000,
  )
}

async function trace(browser: Browser, page: Page): Promise<{ fps: number; events: TraceEvent[] }> {
  await browser.startTracing(page, { categories: ['devtools.timeline', 'toplevel', 'blink', 'cc', '__metadata'] })
  const fps = await framesOf(page, SECONDS)
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] }
  return { fps, events: traceEvents }
}

const median = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)]!

let isOver = false
let browser: Browser | undefined
try {
  const graph = rowsOf(ROWS, NODES / ROWS)
  const { id } = (await client.jobs.enqueue({ queue: 'core', class: 'flow', inputs: { __graph: [graph] } })) as {
    id: number
  }
  const feeding = feed(id, () => isOver)
  feeding.catch((error) => console.error(error))
  browser = await startBrowser({ apart: true })
  await sleep(15_000)

  const [without, beside]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    without.push(await cpuOver(SECONDS))
    const page = await look(browser, id)
    await sleep(1_000)
    beside.push(await cpuOver(SECONDS))
    await page.context().close()
  }
  const cost = median(beside.map((with_, i) => with_ - without[i]!))

  const page = await look(browser, id)
  await sleep(3_000)
  const plain = await framesOf(page, SECONDS)
  const { fps, events } = await trace(browser, page)
  const { wires } = await client.flows.wires(id)
  const work = frameWork(events, fps * SECONDS)

  console.log(
    `${NODES} nodes, ${wires.length} wires, of which ${wires.filter(({ rate }) => rate > 0).length} move; load ${loadavg()
      .map((n) => n.toFixed(2))
      .join(' ')}`,
  )
  console.log(`values a minute over all wires   ${wires.reduce((sum, { rate }) => sum + rate, 0).toLocaleString('en')}`)
  console.log(
    `frames a second                  ${plain.toFixed(1)}, ${fps.toFixed(1)} while traced (goal ${GOALS.frames} and more)`,
  )
  console.log(
    `main thread, ms of each frame    ${work.frame.toFixed(2)}: script ${work.script.toFixed(2)}, style and layout ${work.layout.toFixed(2)}, paint ${work.paint.toFixed(2)}`,
  )
  console.log(
    `longest task of it, ms           ${work.longest.toFixed(1)}; tasks over 16.7 ms: ${work.long} in ${SECONDS} s`,
  )
  console.log(
    `that task, ms                    ${work.made.map(([what, ms]) => `${what} ${ms.toFixed(1)}`).join(', ')}`,
  )
  console.log(
    `CPU of the stack, % of a core ${median(without).toFixed(1)} without a tab, ${median(beside).toFixed(1)} with one: ${cost.toFixed(1)} (goal below ${GOALS.cpu})`,
  )
  if (values.over && (plain < GOALS.frames || cost >= GOALS.cpu)) process.exitCode = 1
} finally {
  isOver = true
  await browser?.close()
  await stack.close()
  rmSync(dir, { recursive: true, force: true })
}
