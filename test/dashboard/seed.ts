import { seedFlow } from './seed-flow.ts'

export type Call = (method: string, path: string, body?: unknown) => Promise<Record<string, never>>
type Made = { id: number }
type Run = { run: { token: string }; job: { id: number; class: string } }

const pull = (about: object = {}) => ({
  pull: true,
  history: 20,
  retry: { max: 3, backoff: { base: '10s' } },
  ...about,
})

const text = { type: 'string' }
const amount = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] }

const classes: [queue: string, name: string, definition: object][] = [
  [
    'media',
    'resize',
    pull({
      retry: { max: 0 },
      concurrency: 24,
      timeout: '30s',
      description: 'Makes smaller pictures of one picture, and returns their addresses.',
      in: {
        url: { schema: { type: 'string', format: 'uri' } },
        sizes: { schema: { type: 'array', items: { type: 'integer' }, maxItems: 8 }, default: [320, 960] },
        format: { schema: { enum: ['webp', 'avif', 'jpeg'] }, default: 'webp' },
        crop: { schema: { type: 'boolean' }, default: false },
      },
      out: { done: { schema: { type: 'object', properties: { url: text, width: { type: 'integer' } } } } },
    }),
  ],
  ['media', 'transcode', pull({ timeout: '10m' })],
  ['media', 'thumbs', pull()],
  [
    'shop',
    'order',
    pull({
      description: 'An order from its first click to its parcel.',
      in: {
        paid: { schema: amount, channels: ['/shop/7/paid'] },
        note: { schema: text },
        cancel: { default: false, channels: ['/shop/7/cancel'] },
      },
      out: {
        receipt: {
          schema: { type: 'object', properties: { id: text, total: { type: 'number' } } },
          channels: ['/shop/7/receipts'],
        },
      },
    }),
  ],
  ['shop', 'invoice-pdf', pull()],
  ['shop', 'label', pull({ limits: [{ key: 'carrier-dhl', concurrency: 8 }] })],
  ['shop', 'pack', pull({ timeout: '5m' })],
  ['mail', 'digest', pull()],
  ['feed', 'import', pull({ retry: { max: 0 } })],
  ['core', 'reindex', pull()],
  ['core', 'zip2', pull({ retry: { max: 0 } })],
]

const groups = ['shop-114', 'shop-7', 'shop-31', 'shop-52'] as const

export function callerOf(url: string, key: string): Call {
  return async (method, path, body) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const told = (await answer.json().catch(() => ({}))) as Record<string, never>
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(told)}`)
    return told
  }
}

export function worker(call: Call, queue: string) {
  const claim = async (name: string, max: number, lease = '1h', process?: string): Promise<Run[]> => {
    const { runs = [] } = (await call('POST', `/v1/queues/${queue}/claim`, {
      names: [name],
      max,
      lease,
      ...(process ? { process } : {}),
    })) as unknown as { runs?: Run[] }
    return runs
  }
  const commit = (run: Run, changes: object) => call('POST', `/v1/runs/${run.run.token}/commit`, { n: 1, ...changes })
  return { claim, commit }
}

async function register(call: Call): Promise<void> {
  for (const [queue, name, definition] of classes)
    await call('PUT', `/v1/workers/${queue}/${encodeURIComponent(name)}`, definition)
}

async function media(call: Call): Promise<void> {
  const { claim, commit } = worker(call, 'media')
  const make = (n: number, about: (i: number) => object) =>
    call(
      'POST',
      '/v1/jobs',
      Array.from({ length: n }, (_, i) => ({ class: 'resize', queue: 'media', ...about(i) })),
    )
  await make(24, (i) => ({
    group: { id: groups[i % 2]! },
    inputs: { url: [`https://cdn.acme.example/u/${880 + i}.heic`] },
  }))
  const errors = [
    { message: 'no answer within 30 s' },
    { message: 'cannot read up-8812.heic: no space left on device' },
  ]
  for (const [i, run] of (await claim('resize', 24)).entries())
    await commit(run, i < 21 ? { end: 'failed', error: errors[i % 5 === 4 ? 1 : 0] } : { end: 'completed' })
  await make(60, (i) => ({
    group: { id: groups[i % 4 === 3 ? i % 3 : i % 4]! },
    inputs: { url: [`https://cdn.acme.example/v/${i}.heic`] },
  }))
  await claim('resize', 60, '1h', 'resizer-eu-1')
  await call('POST', '/v1/jobs', { class: 'transcode', queue: 'media' })
  const [run] = await claim('transcode', 1, '1h', 'packer-eu-2')
  if (run) await call('POST', `/v1/runs/${run.run.token}/heartbeat`, { progress: 0.34 })
}

async function shop(call: Call): Promise<number> {
  const { claim, commit } = worker(call, 'shop')
  for (const i of [1, 2, 3, 4, 5, 6, 7, 8])
    await call('POST', '/v1/jobs', { class: 'label', queue: 'shop', group: { id: groups[i % 3]! } })
  await claim('label', 8, '1h', 'dhl-1')
  const { id } = (await call('POST', '/v1/jobs', {
    class: 'order',
    queue: 'shop',
    group: { id: 'shop-7' },
    alias: ['order-9917'],
    createdBy: 'web-api',
    args: { source: 'web', token: 'sk_live_very_secret' },
  })) as unknown as Made
  const [first] = await claim('order', 1)
  await commit(first!, { end: 'failed', error: { message: 'StripeError: 503 upstream connect error' } })
  await call('POST', `/v1/jobs/${id}/run`, { force: true })
  const [second] = await claim('order', 1)
  await commit(second!, {
    ops: [
      { op: 'log', entry: { message: 'mail sent', to: 'c_8812' } },
      { op: 'log', entry: { message: 'reserved' } },
      { op: 'write', to: { out: 'receipt' }, values: [{ id: 'r_771', total: 249.5 }] },
      { op: 'spawn', queue: 'shop', class: 'invoice-pdf', name: 'invoice-pdf' },
      { op: 'spawn', queue: 'shop', class: 'label', name: 'label' },
      { op: 'spawn', queue: 'shop', class: 'pack', name: 'pack' },
      { op: 'log', entry: { message: 'spawned label and pack' } },
    ],
    state: {
      set: { customer: 'c_8812', total: 249.5, currency: 'EUR', reserved: true, lines: [{ sku: 'a' }, { sku: 'b' }] },
    },
    end: 'suspended',
    waitFor: 'children',
  })
  const [invoice] = await claim('invoice-pdf', 1)
  await commit(invoice!, { end: 'completed' })
  const [pack] = await claim('pack', 1, '1h', 'packer-eu-2')
  await call('POST', `/v1/runs/${pack!.run.token}/heartbeat`, { progress: 0.61 })
  await call('POST', `/v1/jobs/${id}/in/note`, { values: ['gift wrap, no invoice', 'ring twice'], notify: false })
  return id
}

async function rest(call: Call): Promise<void> {
  await call('PATCH', '/v1/queues/mail', { paused: true })
  await call(
    'POST',
    '/v1/jobs',
    Array.from({ length: 18 }, () => ({ class: 'digest', queue: 'mail' })),
  )
  const core = worker(call, 'core')
  await call(
    'POST',
    '/v1/jobs',
    Array.from({ length: 4 }, () => ({ class: 'zip2', queue: 'core' })),
  )
  for (const run of await core.claim('zip2', 4))
    await core.commit(run, {
      end: 'failed',
      error: { message: 'input port "in" of job 7: expected array, received string' },
    })
  await call('PUT', '/v1/limits/openai', { concurrency: 20, rate: { limit: 500, period: '1m' } })
  await call('PUT', '/v1/constraints/stripe', { match: { class: 'order' }, rate: { limit: 25, period: '1s' } })
  await call('PUT', '/v1/constraints/one-per-host', { match: { class: 'crawl/*' }, concurrency: 1, groupBy: 'host' })
  for (const group of groups.slice(0, 3)) await call('PATCH', `/v1/groups/${group}`, { concurrency: 40 })
  await call('PUT', '/v1/schedules/reindex', { class: 'reindex', queue: 'core', repeat: { cron: '20 */2 * * *' } })
  await call('PUT', '/v1/schedules/heartbeat', { class: 'reindex', queue: 'core', repeat: { cron: '* * * * *' } })
  await call('PUT', '/v1/schedules/daily', {
    class: 'digest',
    queue: 'mail',
    repeat: { cron: '0 2 * * *', tz: 'Europe/Berlin' },
  })
  for (const [channel, message] of [
    ['/shop/7/till', { open: true, drawer: 312.4 }],
    ['/shop/7/stock', { sku: 'mug-blue', left: 41 }],
    ['/shop/31/till', { open: false }],
  ] as const)
    await call('POST', '/v1/publish', { channel, message, keep: 1 })
  await call('POST', '/v1/keys', { name: 'ana', scopes: ['read', 'write', 'admin'] })
  await call('POST', '/v1/keys', { name: 'grafana', scopes: ['read'] })
}

export async function seed(url: string, key: string): Promise<{ order: number; flow: number }> {
  const call = callerOf(url, key)
  await register(call)
  await media(call)
  const order = await shop(call)
  await rest(call)
  return { order, flow: await seedFlow(call) }
}
