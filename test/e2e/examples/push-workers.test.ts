import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { webhookHeaders } from '../../../src/engine/remote/sign.ts'
import { answered, sent } from '../../http/worker-document.ts'
import { type Kit, startKit } from '../../kit/index.ts'

const folder = join(import.meta.dirname, '../../../examples')
const secretOf = (text: string) => `whsec_${Buffer.from(text.padEnd(24, '.')).toString('base64')}`
const secret = secretOf('the counting worker')
const other = secretOf('another')

const examples = [
  { name: 'python-worker', command: ['python3', 'worker.py'] },
  { name: 'node-worker', command: [process.execPath, 'worker.ts'] },
] as const

const isThere = (command: string) => spawnSync(command, ['--version']).status === 0

async function start({ name, command: [program, file] }: (typeof examples)[number]) {
  const child = spawn(program, [file], {
    cwd: join(folder, name),
    env: { ...process.env, PORT: '0', WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { child, url: line.replace('listening on ', '') }
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill()
  await once(child, 'exit')
}

let kit: Kit
beforeAll(async () => {
  kit = await startKit()
})
afterAll(() => kit.close())

describe.each(examples)('$name', (example) => {
  const missing = !isThere(example.command[0])
  const may = test.skipIf(missing)
  const queue = example.name
  let worker: Awaited<ReturnType<typeof start>>

  beforeAll(async () => {
    if (missing) console.warn(`skipped: ${example.command[0]} is not on this machine`)
    else worker = await start(example)
  })
  afterAll(() => (worker ? stop(worker.child) : undefined))

  const register = (signedWith: string) =>
    kit.engine.workers.register(queue, 'zip', {
      in: { left: {}, right: { default: '"x"' } },
      out: { pair: {} },
      push: { url: worker.url, secret: signedWith },
      retry: { max: 3 },
    })

  const pairsOf = async (id: number) => {
    const { values } = await kit.engine.ports.get(String(id), 'out', 'pair')
    return values.map(({ data }) => JSON.parse(data))
  }

  may('serves a job with ports through the run protocol', async () => {
    await register(secret)
    const id = await kit.make('zip', { queue, inputs: { left: ['1', '2'], right: ['"a"'] } })
    await kit.rest(id, 'completed')
    expect(await pairsOf(id)).toEqual([
      [1, 'a'],
      [2, 'x'],
    ])
    expect((await kit.engine.jobs.get(String(id))).in).toMatchObject({
      left: { size: 0, taken: 2 },
      right: { size: 0, taken: 1 },
    })
    expect(await kit.engine.jobs.state(String(id))).toEqual({ pairs: '2' })
  })

  may('receives later values together with the state of its last run', async () => {
    await register(secret)
    const id = await kit.make('zip', { queue, inputs: { right: ['"later"'] } })
    await kit.rest(id, 'suspended')
    expect(await pairsOf(id)).toEqual([])
    await kit.engine.ports.write(String(id), 'in', 'left', ['7'])
    await kit.rest(id, 'completed')
    expect(await pairsOf(id)).toEqual([[7, 'later']])
    expect(await kit.engine.jobs.state(String(id))).toEqual({ pairs: '1' })
  })

  may('answers in the form that the OpenAPI document for push workers requires', async () => {
    const value = (data: unknown) => ({ data })
    const snapshot = {
      run: { token: '7.1.a', attempt: 1, lost: 0, reason: 'run', timeout: 30_000, startedAt: 1, leaseUntil: 2 },
      job: {
        id: 7,
        queue,
        class: 'zip',
        args: null,
        name: null,
        createdAt: 1,
        createdBy: '',
        ranAt: null,
        parent: null,
        aliases: [],
      },
      state: {},
      in: {
        left: { cursor: 0, values: [value(1), value(2)], more: 0 },
        right: { cursor: 0, values: [value('a')], more: 0, default: value('x') },
      },
      out: { pair: { size: 0, channels: [] } },
      children: {},
    }
    expect(sent.safeParse(snapshot).error?.issues).toBeUndefined()
    const body = new TextEncoder().encode(JSON.stringify(snapshot))
    const headers = {
      ...(await webhookHeaders('7.1.a', body, [secret], Date.now())),
      'content-type': 'application/json',
    }
    const response = await fetch(worker.url, { method: 'POST', headers, body })
    const answer = await response.json()
    expect(response.status).toBe(200)
    expect(answer).toMatchObject({
      end: 'completed',
      ops: [
        {
          values: [
            [1, 'a'],
            [2, 'x'],
          ],
        },
      ],
    })
    expect(answered.safeParse(answer).error?.issues).toBeUndefined()
  })

  may('did not answer, or ended, when its code threw or a caller disconnected', async () => {
    const cut = connect(Number(new URL(worker.url).port), '127.0.0.1')
    cut.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n{', () => cut.resetAndDestroy())
    await once(cut, 'close')
    const body = new TextEncoder().encode('{"job":{"class":"zip"},"in":{"left":null},"state":{}}')
    for (let n = 0; n < 2; n++) {
      const headers = { ...(await webhookHeaders('7.1.a', body, [secret], Date.now())) }
      const response = await fetch(worker.url, { method: 'POST', headers, body })
      const answer = await response.json()
      expect(answer).toMatchObject({ end: 'failed', error: { message: expect.stringMatching(/Error/) } })
      expect(answered.safeParse(answer).error?.issues).toBeUndefined()
    }
  })

  may('accepts either of two signatures during a rotation of the secret', async () => {
    for (const both of [`${other},${secret}`, `${secret},${other}`]) {
      await register(both)
      const id = await kit.make('zip', { queue, inputs: { left: ['1'] } })
      await kit.rest(id, 'completed')
    }
  })

  may('refuses calls signed with another secret: the job fails without a retry', async () => {
    await register(other)
    const id = await kit.make('zip', { queue, inputs: { left: ['1'] } })
    await kit.rest(id)
    const { status, attempt, error, in: ports } = await kit.engine.jobs.get(String(id))
    expect({ status, attempt, size: ports.left!.size }).toEqual({ status: 'failed', attempt: 1, size: 1 })
    expect(JSON.parse(error!).message).toBe('the worker answered 401')
  })

  may('answers 401 to a wrong signature, another body, an old or a missing signature', async () => {
    const body = new TextEncoder().encode('{"job":{"class":"zip"}}')
    const signed = (at = Date.now(), by = secret) => webhookHeaders('7.1.a', body, [by], at)
    const ask = async (headers: Record<string, string>, sent: Uint8Array = body) =>
      (await fetch(worker.url, { method: 'POST', headers, body: sent as BodyInit })).status
    expect(await ask(await signed(Date.now(), other))).toBe(401)
    expect(await ask(await signed(), new TextEncoder().encode('{"job":{"class":"zap"}}'))).toBe(401)
    expect(await ask(await signed(Date.now() - 6 * 60_000))).toBe(401)
    expect(await ask(await signed(Date.now() + 6 * 60_000))).toBe(401)
    expect(await ask({ ...(await signed()), 'webhook-id': '8.1.a' })).toBe(401)
    expect(await ask({ ...(await signed()), 'webhook-timestamp': 'now' })).toBe(401)
    expect(await ask({})).toBe(401)
  })
})
