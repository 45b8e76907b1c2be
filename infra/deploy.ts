// `npm run deploy -- [--name sidejob-staging] [--dry-run] [--no-cron]`, or `-- destroy --name sidejob-staging`

import { parseArgs } from 'node:util'
import { deploy, destroy } from '../src/deploy/index.ts'
import { describe, planOf } from '../src/deploy/settings.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: {
    name: { type: 'string' },
    'dry-run': { type: 'boolean', default: false },
    cron: { type: 'boolean', default: true },
  },
})

async function main(): Promise<void> {
  const [verb = 'deploy'] = positionals
  const options = { env: process.env, name: values.name, cron: values.cron, say: console.log }
  if (verb === 'destroy') {
    if (!values.name) throw new Error('destroy: expected --name, so that no deployment is removed by mistake')
    return destroy(options)
  }
  if (verb !== 'deploy') throw new Error(`expected deploy or destroy, got ${verb}`)
  const plan = planOf(process.env, values.name)
  if (values['dry-run'] || plan.missing.length || plan.refused.length) {
    for (const line of describe(plan)) console.log(line)
    process.exitCode = plan.missing.length || plan.refused.length ? 1 : 0
    return
  }
  await deploy(options)
}

await main().catch((error: Error) => {
  console.error(`deploy: ${error.message}`)
  process.exitCode = 1
})
