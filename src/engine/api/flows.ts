// Flows from outside: their graphs, changed while they run, and what stands at their wires.

import { type Encoded, encodeValue } from '../../core/codec/value.ts'
import { type Code, SidejobError } from '../../core/errors.ts'
import { earlier, type Graph, graphText, readGraph, remember } from '../../core/graph.ts'
import {
  adoptions,
  type End,
  type GraphWire,
  namedPorts,
  type Plan,
  planGraph,
  spawnOf,
  wiresOf,
} from '../../core/plan.ts'
import type { Op } from '../../core/run.ts'
import { opWords, spawnWords, type Words, writeWords } from '../../redis/changes.ts'
import { shownItem } from '../../redis/item.ts'
import { defaultOf, type JobRecord, portsOf, stateFieldOf, statusOf } from '../../redis/record.ts'
import type { FlowState } from '../../redis/types.ts'
import type { Context } from '../context.ts'
import type { Call, Engine, GraphChange, Item, Ref, WireView } from '../engine.ts'
import { spawnedJob } from '../jobs/new-job.ts'
import { adoptable, wiringOf } from '../run/snapshot.ts'

type Flows = Pick<
  Engine,
  | 'graph'
  | 'setGraph'
  | 'undoGraph'
  | 'wires'
  | 'inject'
  | 'drain'
  | 'moveWire'
  | 'storedGraph'
  | 'storeGraph'
  | 'dropGraph'
>

const MINUTE = 60_000
const TRIES = 5
/** The flow has started or let go a node, or got another graph, between our look and our change. */
const overtaken = new Set<Code>(['CONFLICT', 'TAKEN', 'NOT_FOUND'])
const MOST = 10_000

const textOf = ({ document }: FlowState): Encoded | undefined => stateFieldOf(document, 'graph')

/** The run that makes up for what may have happened between our look and our change. */
const RUN: Words = ['run', '', '1', '', '', '']

const ENDED = new Set(['terminating', 'terminated'])

function checkFlow({ id, document }: FlowState): void {
  if (document.class !== 'flow') throw new SidejobError('REFUSED', `job ${id} (${document.class}) is no flow`)
  const status = statusOf(document)
  if (ENDED.has(status)) throw new SidejobError('WRONG_STATUS', `job ${id} is ${status}: it has no use for a graph`)
}

const portAt = ({ ports }: FlowState, { node, port }: End, dir: 'i' | 'o') =>
  ports.find(({ wiring }) => wiring[0] === (node ?? '') && wiring[1] === dir && wiring[2] === port)

/** Values a minute: those of this minute, and so much of the one before as is not over sixty seconds ago. */
function rateOf(passed: string | undefined, now: number): number {
  if (!passed) return 0
  const [minute, count, before] = passed.split(':').map(Number) as [number, number, number]
  const behind = Math.floor(now / MINUTE) - minute
  const [current, last] = behind === 0 ? [count, before] : [0, behind === 1 ? count : 0]
  return Math.round(current + last * (1 - (now % MINUTE) / MINUTE))
}

const NODE_SIDE = { from: 'o', to: 'i' } as const
const FLOW_SIDE = { from: 'i', to: 'o' } as const

function wireView(state: FlowState, { id, from, to }: GraphWire): WireView {
  const near = portAt(state, from, (from.node === null ? FLOW_SIDE : NODE_SIDE).from)
  const far = portAt(state, to, (to.node === null ? FLOW_SIDE : NODE_SIDE).to)
  return {
    ...{ id, from, to },
    laid: /\d/.test(near?.wiring[5] ?? ''),
    size: Number(far?.wiring[3] ?? 0),
    behind: Number(near?.wiring[3] ?? 0),
    oldest: far?.oldest ? shownItem(far.oldest) : near?.oldest ? shownItem(near.oldest) : null,
    rate: rateOf(near?.passed, state.now),
  }
}

const changeOf = ({ ops: _, ...plan }: Plan, applied: boolean): GraphChange => ({ applied, ...plan })

const inputsOf = (doc: JobRecord) =>
  Object.fromEntries(
    portsOf(doc, 'i')
      .filter(({ port }) => port !== '__graph')
      .map(({ port, pushed, taken }) => [
        port,
        { size: pushed - taken, default: defaultOf(doc, 'i', port) !== undefined },
      ]),
  )

/** The verbs for flows. */
export function createFlows({
  store,
  registry,
  announce,
  change,
}: Pick<Context, 'store' | 'registry' | 'announce' | 'change'>): Flows {
  /** A class that nobody has registered yet may have any port. */
  async function checkPorts(graph: Graph, before: Graph | undefined): Promise<void> {
    const named = namedPorts(graph, before)
    const find = await registry.finder(named.map(({ node }) => graph.nodes[node]!))
    for (const { node: name, dir, port, path } of named) {
      const node = graph.nodes[name]!
      const found = find(node)
      const ports = { ...found?.[dir], ...(dir === 'in' ? node.inports : node.outports) }
      if (!found || Object.hasOwn(ports, port) || Object.hasOwn(ports, '*')) continue
      const has = Object.keys(ports).join(', ') || 'none'
      const message = `${path.join('.')}: node ${name} (${node.class}) has no ${dir} port ${port}; it has ${has}`
      throw new SidejobError('REFUSED', message, { path })
    }
  }

  async function planOf(state: FlowState, graph: Graph, before: Graph | undefined): Promise<Plan> {
    const { id, children, document } = state
    await checkPorts(graph, before)
    const jobs = await Promise.all(
      adoptions(graph, before).map(async ({ job }) => [job, await adoptable(store, job)] as const),
    )
    return planGraph(graph, before, {
      ...{ id, children, inputs: inputsOf(document) },
      wires: state.ports
        .map(({ wiring }) => wiringOf(wiring))
        .filter(({ child, dir, to }) => child !== undefined || (dir === 'in' && to.length > 0)),
      jobs: Object.fromEntries(jobs),
    })
  }

  const wordsOf = (id: number, ops: readonly Op[]): Promise<Words[]> =>
    Promise.all(
      ops.map(async (op) =>
        op.op === 'spawn'
          ? spawnWords(op.name, await spawnedJob(registry, op, id))
          : opWords(op, encodeValue({ job: id }) as Encoded),
      ),
    )

  /** All or none; what has been overtaken is a conflict, which is looked at once more. */
  async function commit(state: FlowState, ops: Words[], call?: Call): Promise<string[]> {
    try {
      return await change(String(state.id), ops, call)
    } catch (error) {
      if (!(error instanceof SidejobError && overtaken.has(error.code))) throw error
      throw new SidejobError('CONFLICT', error.message, { cause: error })
    }
  }

  /** Looks, decides and changes; once more when it was not as seen any more. */
  async function attempt<T>(job: Ref, step: (state: FlowState) => Promise<T>): Promise<T> {
    await announce()
    for (let tries = 1; ; tries++) {
      try {
        return await step(await store.flow(job))
      } catch (error) {
        if (!(error instanceof SidejobError && error.code === 'CONFLICT') || tries === TRIES) throw error
      }
    }
  }

  /** One script: the graph, its history, and everything that follows. */
  async function put(state: FlowState, graph: Graph, past: Encoded | undefined, call?: Call): Promise<GraphChange> {
    const text = textOf(state)
    const plan = await planOf(state, graph, text === undefined ? undefined : readGraph(text))
    const words = [
      ['was', 's:graph', text ?? ''],
      ['set', 'graph', graphText(graph)],
      past === undefined ? ['unset', 'history'] : ['set', 'history', past],
      ...(await wordsOf(state.id, plan.ops)),
      RUN,
    ]
    await commit(
      state,
      words.filter(({ length }) => length > 0),
      call,
    )
    return changeOf(plan, true)
  }

  const historyOf = ({ document }: FlowState) => stateFieldOf(document, 'history')

  function graphOf(state: FlowState): Graph {
    const text = textOf(state)
    if (text === undefined) throw new SidejobError('NOT_FOUND', `job ${state.id} has no graph`)
    return readGraph(text)
  }

  function wireOf(state: FlowState, name: string): { graph: Graph; found: GraphWire } {
    const graph = graphOf(state)
    const found = wiresOf(graph).find(({ id }) => id === name)
    if (!found) throw new SidejobError('NOT_FOUND', `the graph of job ${state.id} has no wire ${JSON.stringify(name)}`)
    return { graph, found }
  }

  /** The far end of a wire as verbs name it; its node is started where it has not been. */
  async function farEnd(state: FlowState, graph: Graph, { to }: GraphWire): Promise<{ begin: Words[]; end: Words }> {
    if (to.node === null) return { begin: [], end: ['', 'o', to.port] }
    const end = [`>${to.node}`, 'i', to.port]
    if (Object.hasOwn(state.children, to.node)) return { begin: [], end }
    return { begin: [...(await wordsOf(state.id, [spawnOf(graph, to.node)])), RUN], end }
  }

  return {
    graph: async (job) => graphOf(await store.flow(job)),

    setGraph: (job, graph, { preview = false }, call) =>
      attempt(job, async (state) => {
        checkFlow(state)
        const text = textOf(state)
        if (preview)
          return changeOf(await planOf(state, graph, text === undefined ? undefined : readGraph(text)), false)
        const past =
          text === undefined || text === graphText(graph) ? historyOf(state) : remember(historyOf(state), text)
        return put(state, graph, past, call)
      }),

    undoGraph: (job, call) =>
      attempt(job, async (state) => {
        checkFlow(state)
        const before = earlier(historyOf(state))
        const last = before.pop()
        if (last === undefined) throw new SidejobError('WRONG_STATUS', `job ${state.id} had no graph before this one`)
        return put(state, readGraph(last), before.length ? (`[${before.join(',')}]` as Encoded) : undefined, call)
      }),

    async wires(job) {
      const state = await store.flow(job)
      return { wires: wiresOf(graphOf(state)).map((one) => wireView(state, one)) }
    },

    inject: (job, name, values, call) =>
      attempt(job, async (state) => {
        const { graph, found } = wireOf(state, name)
        const { begin } = await farEnd(state, graph, found)
        const port = found.to.node === null ? { out: found.to.port } : { child: found.to.node, in: found.to.port }
        const [size] = await commit(state, [...begin, writeWords(port, { values })], call)
        return { size: Number(size) }
      }),

    async drain(job, name, { max = MOST }, call) {
      const state = await store.flow(job)
      const { found } = wireOf(state, name)
      const started = found.to.node === null || Object.hasOwn(state.children, found.to.node)
      // What waits for a node that has not started is still at the near end.
      const [node, dir, port] = started
        ? [found.to.node, found.to.node === null ? 'o' : 'i', found.to.port]
        : [found.from.node, found.from.node === null ? 'i' : 'o', found.from.port]
      const words: Words = ['take', node === null ? '' : `>${node}`, dir, port, String(max)]
      const [isDefault, ...items] = await change(String(state.id), [words], call, MINUTE)
      return { values: isDefault ? [] : items.map((item): Item => shownItem(item)) }
    },

    moveWire: (job, name, target, call) =>
      attempt(job, async (state) => {
        const { graph, found } = wireOf(state, name)
        const to = await farEnd(state, graph, wireOf(state, target).found)
        const from = await farEnd(state, graph, found)
        if (from.begin.length > 0) return { moved: 0 }
        const words = ['shift', ...from.end, ...to.end, String(MOST)]
        const [moved] = await commit(state, [...to.begin, words], call)
        return { moved: Number(moved) }
      }),

    async storedGraph(name) {
      const text = await store.graph(name)
      if (text === null) throw new SidejobError('NOT_FOUND', `there is no graph ${name}`)
      return readGraph(text)
    },
    async storeGraph(name, graph) {
      await store.setGraph(name, graphText(graph))
    },
    async dropGraph(name) {
      if ((await store.removeGraph(name)) === 0) throw new SidejobError('NOT_FOUND', `there is no graph ${name}`)
    },
  }
}
