// `npm run probe [-- --record | -- --rules]` checks the assumptions of the stand-ins on real platforms.

import { parseArgs } from 'node:util'
import { probe } from './probe/index.ts'
import { probeRules } from './probe/rules.ts'
import type { Verdict } from './probe/verdict.ts'
import { plans } from './stand-ins/plan.ts'

const { values } = parseArgs({
  options: { record: { type: 'boolean', default: false }, rules: { type: 'boolean', default: false } },
})

async function main(): Promise<void> {
  if (values.rules) {
    process.exitCode = await probeRules({ env: process.env })
    return
  }
  const record = values.record ? plans.payg.redis.record : undefined
  const lines = await probe({ env: process.env, record, say: console.log })
  const count = (verdict: Verdict) => lines.filter((line) => line.verdict === verdict).length
  console.log(`\n${count('ok')} ok, ${count('differs')} differ, ${count('not known')} not known`)
  process.exitCode = count('differs') ? 1 : 0
}

await main().catch((error: Error) => {
  console.error(`probe: ${error.message}`)
  process.exitCode = 2
})
