// `npm run bench:scripts` measures the size, functions, registers and CPU time of Redis scripts in three Lua engines.
// `--with <folder>` also measures another checkout. `--only strict,server` selects engines, and `--rounds` sets the
// number of rounds.

import { cpus, loadavg } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { canBuild, registersOf } from '../../../infra/stand-ins/strict/index.ts'
import type { Script } from '../../../src/redis/script.ts'
import { functionsMade } from './functions-made.ts'
import { type Lua, luas, startLua } from './luas.ts'
import { type Calls, callsOf, measureCalls } from './script-calls.ts'

const ours = join(import.meta.dirname, '../../..')
const { values: options } = parseArgs({
  options: {
    with: { type: 'string' },
    only: { type: 'string', default: luas.join(',') },
    rounds: { type: 'string', default: '5' },
  },
})
const folders = [...(options.with ? [resolve(options.with)] : []), ours]
const wanted = options.only.split(',') as Lua[]
for (const lua of wanted) if (!luas.includes(lua)) throw new Error(`--only: expected ${luas.join(', ')}, got ${lua}`)
const rounds = Number(options.rounds)
if (!(rounds >= 1)) throw new Error(`--rounds: expected a number from 1 on, got ${options.rounds}`)

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

const row = (title: string, cells: readonly string[]): void =>
  console.log(`  ${title.padEnd(62)}${cells.map((cell) => cell.padStart(12)).join('')}`)

async function printScripts(): Promise<void> {
  const all = await Promise.all(
    folders.map(
      async (folder): Promise<Record<string, Script<never>>> => import(join(folder, 'src/redis/scripts.generated.ts')),
    ),
  )
  console.log('\nscripts: KiB, functions made a call, registers of the main chunk')
  for (const name of Object.keys(all.at(-1)!)) {
    const cells = all.map(async (scripts) => {
      const text = scripts[name]?.text
      if (text === undefined) return ['–', '–', '–']
      const registers = canBuild() ? String((await registersOf(text))[0]!.registers) : '?'
      return [(Buffer.byteLength(text) / 1024).toFixed(1), String(functionsMade(text)), registers]
    })
    row(name, (await Promise.all(cells)).flat())
  }
}

async function printCalls(lua: Lua): Promise<void> {
  const host = await startLua(lua)
  const found: Calls[][] = folders.map(() => [])
  try {
    const stores = await Promise.all(folders.map((folder) => callsOf(folder, host)))
    for (let round = 0; round <= rounds; round++)
      for (const [i, store] of stores.entries()) {
        const calls = await measureCalls(store, host, lua)
        if (round > 0) found[i]!.push(calls)
      }
  } finally {
    await host.close()
  }
  console.log(`\n${host.describe}: ms of CPU a call, the median of ${rounds} rounds`)
  for (const title of Object.keys(found[0]![0]!)) {
    const medians = found.map((calls) => median(calls.map((one) => one[title]!)))
    const ratio = medians.length > 1 ? [`× ${(medians[1]! / medians[0]!).toFixed(2)}`] : []
    row(title, [...medians.map((ms) => ms.toFixed(3)), ...ratio])
  }
}

const load = (): string =>
  loadavg()
    .map((n) => n.toFixed(2))
    .join(' ')

console.log(`node ${process.version}; ${cpus().length} cores, ${cpus()[0]?.model}; load ${load()} before`)
if (options.with) console.log(`in each row first ${folders[0]}, then ours`)
await printScripts()
for (const lua of wanted) await printCalls(lua)
console.log(`\nload ${load()} after`)
process.exit(0)
