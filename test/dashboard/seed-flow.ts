import { type Call, worker } from './seed.ts'

const anyPort = (...names: string[]) => Object.fromEntries(names.map((name) => [name, {}]))

const classes: [queue: string, name: string, ins: string[], outs: string[]][] = [
  ['feed', 'map', ['in', 'back'], ['out', 'each', 'rejected']],
  ['feed', 'filter', ['in'], ['out']],
  ['feed', 'reject', ['in'], ['out']],
  ['feed', 'merge', ['image', 'offer'], ['out']],
  ['shop', 'enrich', ['in'], ['image', 'offer']],
  ['shop', 'price', ['in'], ['out']],
  ['shop', 'dedupe', ['in'], ['out']],
  ['search', 'index', ['in'], ['done']],
]

const edge = (from: string, to: string) => {
  const [[a, outport], [b, inport]] = [from.split('.'), to.split('.')] as [[string, string], [string, string]]
  return { from: { node: a, outport }, to: { node: b, inport } }
}

export const catalog = {
  name: 'catalog-sync',
  nodes: {
    rows: { queue: 'feed', class: 'map' },
    clean: { queue: 'feed', class: 'filter' },
    enrich: { queue: 'shop', class: 'enrich' },
    images: { queue: 'media', class: 'resize' },
    price: { queue: 'shop', class: 'price' },
    rejected: { queue: 'feed', class: 'reject' },
    join: { queue: 'feed', class: 'merge' },
    index: { queue: 'search', class: 'index' },
  },
  edges: [
    edge('rows.each', 'clean.in'),
    edge('clean.out', 'rows.back'),
    edge('rows.out', 'enrich.in'),
    edge('rows.rejected', 'rejected.in'),
    edge('enrich.image', 'images.url'),
    edge('enrich.offer', 'price.in'),
    edge('images.done', 'join.image'),
    edge('price.out', 'join.offer'),
    edge('join.out', 'index.in'),
  ],
  inports: { feed: { node: 'rows', inport: 'in' } },
  outports: { report: { node: 'index', outport: 'done' }, rejected: { node: 'rejected', outport: 'out' } },
}

const skus = ['desk-oak', 'lamp-03', 'rug-teal', 'shelf-2', 'chair-w']
const product = (i: number) => ({ sku: `${skus[i % skus.length]}${i < 5 ? '' : `-${i}`}`, url: `/u/${881 + i}.heic` })

async function claimed(by: ReturnType<typeof worker>, name: string) {
  for (let tries = 0; tries < 100; tries++) {
    const [run] = await by.claim(name, 1)
    if (run) return run
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`no job of class ${name} is ready`)
}

async function steps(call: Call): Promise<void> {
  const [feed, shop, search] = [worker(call, 'feed'), worker(call, 'shop'), worker(call, 'search')]
  const many = (n: number) => Array.from({ length: n }, (_, i) => product(i))
  const write = (out: string, n: number) => ({ op: 'write', to: { out }, values: many(n) })
  const run = async (by: typeof feed, name: string, read: Record<string, number>, ops: object[], end = 'suspended') => {
    const reads = Object.fromEntries(Object.entries(read).map(([port, count]) => [port, { cursor: 0, count }]))
    await by.commit(await claimed(by, name), { end, ops, reads })
  }
  await run(feed, 'map', { in: 3 }, [write('each', 240), write('out', 232), write('rejected', 7)])
  await run(shop, 'enrich', { in: 230 }, [write('image', 1_318), write('offer', 1_190)], 'again')
  await run(shop, 'price', { in: 1_000 }, [write('out', 1_190)])
  await run(feed, 'merge', {}, [write('out', 1)])
  await run(search, 'index', { in: 1 }, [])
  await run(feed, 'reject', { in: 7 }, [write('out', 7)], 'completed')
  await claimed(feed, 'filter')
  await claimed(shop, 'enrich')
}

export async function seedFlow(call: Call): Promise<number> {
  for (const [queue, name, ins, outs] of classes)
    await call('PUT', `/v1/workers/${queue}/${name}`, { pull: true, in: anyPort(...ins), out: anyPort(...outs) })
  const { id } = (await call('POST', '/v1/jobs', {
    queue: 'core',
    class: 'flow',
    inputs: { __graph: [catalog], feed: [1, 2, 3] },
  })) as unknown as { id: number }
  await call('PUT', `/v1/flows/${id}/record`, { keep: '2h' })
  await steps(call)
  return id
}
