// npm run soak:flow runs flows while their processes are killed and their graphs change.
//   npm run soak:flow -- --seed 7 --kills 20 --edits 50 --rounds 3

import { parseArgs } from 'node:util'
import { underEdits, underKills } from './soak.ts'

const { values: given } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '1' },
    kills: { type: 'string', default: '20' },
    edits: { type: 'string', default: '50' },
  },
})

const seconds = (since: number) => `${((performance.now() - since) / 1_000).toFixed(1)} s`

let failed = 0
for (let round = 0; round < Number(given.rounds); round++) {
  const seed = Number(given.seed) + round
  let since = performance.now()
  const killed = await underKills({ values: 1_000, nodes: 10, kills: Number(given.kills), seed })
  const inOrder = killed.values.length === 1_000 && killed.values.every((value, i) => value === i)
  console.log(
    `seed ${seed}: 1,000 values through 10 nodes, ${killed.kills} kills in ${killed.dispatches} invocations, ${seconds(since)}:`,
    inOrder ? 'all, once, in order' : 'WRONG',
    ...killed.faults,
  )
  since = performance.now()
  const { edits, out, left, missing, doubled, faults } = await underEdits({
    values: 5_000,
    edits: Number(given.edits),
    seed,
  })
  console.log(
    `seed ${seed}: 5,000 values, ${edits.made} edits (${edits.started} nodes started, ${edits.stopped} stopped, ${edits.rewired} wires laid), ${seconds(since)}:`,
    `${out} came out, ${left} are in stopped nodes, ${missing.length} missing, ${doubled.length} doubled`,
    ...faults,
  )
  if (!inOrder || killed.faults.length || missing.length || doubled.length || faults.length) failed++
}
process.exitCode = failed > 0 ? 1 : 0
