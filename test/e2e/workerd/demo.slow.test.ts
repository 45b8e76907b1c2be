import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { claimPort } from '../../../src/dev/ports.ts'
import { kind } from '../../kit/index.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const LONG = 240_000

async function run(script: string, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [script], {
    cwd: ROOT,
    env: { ...process.env, SIDEJOB_REDIS: kind, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exit = new Promise((resolve) => child.once('close', resolve))
  const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { exit: await exit, said, complained }
}

test('the demo starts its own stack, and its count equals a direct count', { timeout: LONG }, async () => {
  const PORT = String(await claimPort(0, { setting: '' }))
  const { exit, said, complained } = await run('infra/demo/index.ts', { PORT })
  expect(exit, complained).toBe(0)
  expect(said).toMatch(/^Its page: http:\/\/127\.0\.0\.1:\d+\/ui\/jobs\/\d+$/m)
  expect(said).toMatch(/100%/)
  expect(said).toMatch(/^Jobs +\d+$/m)
  expect(said).toMatch(/^Redis round trips +\d+ \(\d\.\d+ per run\)$/m)
  expect(said).toMatch(/^A direct count has the same result: /m)
})

test('the demo names missing tools', async () => {
  const { exit, complained } = await run('infra/demo/index.ts', { SIDEJOB_URL: 'http://127.0.0.1:9' })
  expect(exit).toBe(1)
  expect(complained).toContain('demo: http://127.0.0.1:9 cannot be used')
})

test('three kills during the demo lose runs and nothing else', { timeout: LONG }, async () => {
  const { exit, said, complained } = await run('infra/demo/kill.ts')
  expect(exit, complained).toBe(0)
  expect(said.match(/workerd exited unexpectedly\. It was restarted\./g)).toHaveLength(3)
  expect(said).toMatch(/^killed 3 times, [1-9]\d* runs lost, 0 counts differ, 0 faults in Redis$/m)
})
