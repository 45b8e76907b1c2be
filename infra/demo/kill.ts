// `npm run demo:kill`

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { everyPage } from '../../src/cli/command.ts'
import type { Client } from '../../src/client/index.ts'
import { createSidejob } from '../../src/index.ts'
import { type Stack, startLocalStack } from '../stack.ts'
import { countWords, patientClient } from './count.ts'
import { differences, directCount } from './direct.ts'
import { progress } from './progress.ts'
import { allTexts } from './texts.ts'

const PERCENT = [30, 60, 90]
// Short, so that killed runs are repeated soon.
const LEASE = '3s'
// Small, so that each kill probably interrupts a run.
const BATCH = 4

const dir = mkdtempSync(join(tmpdir(), 'sidejob-kill-'))
const stack = await startLocalStack({ dir, persist: false, vars: { SIDEJOB_LANE_LEASE: LEASE }, say: console.log })
const ticking = setInterval(() => stack.tick().catch(() => {}), 1_000)
try {
  await demonstrate(stack)
} catch (error) {
  console.error(`demo:kill: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
} finally {
  clearInterval(ticking)
  await stack.close()
  rmSync(dir, { recursive: true, force: true })
}

async function demonstrate({ url, apiKey, worker }: Stack) {
  const client = patientClient(url, apiKey)
  await client.queues.patch('default', { batch: BATCH, lanes: 1 })
  const texts = allTexts()
  const show = progress(texts.length, 'files')
  const points = [...PERCENT]
  let kills = 0
  const { id, total } = await countWords(client, texts, (done) => {
    show(done)
    if (points.length === 0 || done < (points[0]! / 100) * texts.length) return
    points.shift()
    process.kill(worker.pid!, 'SIGKILL')
    console.log(`killed workerd at ${done} of ${texts.length}`)
    kills++
  })
  const wrong = differences(total, directCount(texts))
  const lost = await lostRuns(client, id)
  const faults = await verify(stack)
  console.log(
    `killed ${kills} times, ${lost} runs lost, ${wrong.length} counts differ, ${faults.length} faults in Redis`,
  )
  if (kills < PERCENT.length) throw new Error('the demo ended before it was killed three times')
  if (lost === 0) throw new Error('no run was lost: no kill interrupted a run')
  if (wrong.length > 0) throw new Error(`a direct count differs: ${wrong.slice(0, 5).join(', ')}`)
  if (faults.length > 0) throw new Error(`the doctor found faults: ${JSON.stringify(faults.slice(0, 5))}`)
}

async function lostRuns(client: Client, parent: number) {
  let { lost } = await client.jobs.get(parent)
  for await (const { jobs } of everyPage((at) => client.jobs.list({ parent: String(parent), limit: 100, ...at })))
    for (const job of jobs) lost += job.lost
  return lost
}

function verify({ gateway, note }: Stack) {
  const redis = { url: gateway.url, token: gateway.token }
  const { url, token } = note.qstash
  return createSidejob({ redis, qstash: { url, token, publicUrl: note.url } }).doctor.verify()
}
