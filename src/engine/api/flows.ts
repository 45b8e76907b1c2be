import { type Encoded, encodeValue } from '../../core/codec/value.ts'
import { type Code, hasCode, SidejobError } from '../../core/errors.ts'
import { type Graph, graphText, readGraph } from '../../core/graph.ts'
import { type Graphs, type Version, withGraph, withoutLast } from '../../core/graph-history.ts'
import { type Status, statuses } from '../../core/job.ts'
import { adoptions, type Plan, planGraph, sourceRef, spawnOf, targetRef } from '../../core/plan.ts'
import { redacted } from '../../core/redact.ts'
import type { Op } from '../../core/run.ts'
import { MINUTE } from '../../core/units.ts'
import { type End, type GraphWire, wiresOf } from '../../core/wires.ts'
import { opWords, spawnWords, writeWords } from '../../redis/changes.ts'
import { shownItem } from '../../redis/item.ts'
import { ops, type Words } from '../../redis/ops.ts'
import { statusOf } from '../../redis/record.ts'
import type { FlowState } from '../../redis/types.ts'
import { stateField, type Vault } from '../../redis/vault.ts'
import type { Context } from '../context.ts'
import type { Call, GraphChange, Item, Ref, WireView } from '../engine.ts'
import { checkPorts } from '../jobs/graph-check.ts'
import { spawnedJob } from '../jobs/new-job.ts'
import { adoptable } from '../run/snapshot.ts'
import { unfitOf } from './flow-unfit.ts'
import {
  expectGraph,
  flowFactsOf,
  flowRow,
  flowsOf,
  flowView,
  graphHashOf,
  graphIn,
  graphsOf,
  versionViews,
  wireView,
  wireViews,
} from './flow-view.ts'
import { tryValues } from './wire-try.ts'

const TRIES = 5
const overtaken = new Set<Code>(['CONFLICT', 'TAKEN', 'NOT_FOUND'])
const MOST = 10_000
const GRAPHS = 100
const LOOKED_INTO = 20

function sizeOf(text: Encoded | null): { nodes?: number; edges?: number } {
  if (text === null) return {}
  const { nodes, edges } = readGraph(text)
  return { nodes: Object.keys(nodes).length, edges: edges.length }
}

const RUN = ops.run({ force: true })

const hasStarted = ({ children }: FlowState, { node }: End): boolean => node === null || Object.hasOwn(children, node)

const ENDED = new Set(['terminating', 'terminated'])

const notOne = ({ id, document }: FlowState) =>
  new SidejobError('REFUSED', `job ${id} (${document.class}) is not a flow`)

function checkFlow(state: FlowState): void {
  const { id, document } = state
  if (document.class !== 'flow') throw notOne(state)
  const status = statusOf(document)
  if (ENDED.has(status)) throw new SidejobError('WRONG_STATUS', `job ${id} is ${status}: its graph cannot be changed`)
}

async function checkMatch(state: FlowState, match: string | undefined) {
  if (match === undefined) return
  const hash = await graphHashOf(state)
  if (match === hash || (match === '*' && hash !== null)) return
  const is = hash ? `"${hash}"` : 'none'
  const message = `If-Match: expected the hash of the current graph (${is}), got "${match}": the graph has changed. Get the current graph and apply your change to it`
  throw new SidejobError('CHANGED', message, { path: ['If-Match'] })
}

const fieldWords = (fields: Graphs, vault: Vault): Words[] =>
  (['graph', 'history', 'versions'] as const).map((name) =>
    fields[name] === undefined
      ? ops.unset({ field: name })
      : ops.set({ field: name, value: vault.sealSame(fields[name], stateField(name)) }),
  )

const changeOf = ({ ops: _, ...plan }: Plan, applied: boolean): GraphChange => ({ applied, ...plan })

type GraphOptions = { preview?: boolean; match?: string }

type Query = { status?: readonly Status[]; cursor?: string; limit?: number }

export function createFlows({ store, registry, announce, change }: Context) {
  async function planOf(state: FlowState, graph: Graph, before: Graph | undefined): Promise<Plan> {
    await checkPorts(registry, graph, { before })
    const jobs = await Promise.all(
      adoptions(graph, before).map(async ({ job }) => [job, await adoptable(store, job)] as const),
    )
    return planGraph(graph, before, { ...flowFactsOf(state), jobs: Object.fromEntries(jobs) })
  }

  const wordsOf = (id: number, list: readonly Op[]) =>
    Promise.all(
      list.map(async (op) =>
        op.op === 'spawn'
          ? spawnWords(op.name, await spawnedJob(registry, op, { by: id }), store.vault)
          : opWords(op, store.vault, encodeValue({ job: id })),
      ),
    )

  async function commit(state: FlowState, ops: Words[], call?: Call) {
    try {
      return await change(String(state.id), ops, call)
    } catch (error) {
      if (!(error instanceof SidejobError && overtaken.has(error.code))) throw error
      throw new SidejobError('CONFLICT', error.message, { cause: error })
    }
  }

  async function attempt<T>(job: Ref, step: (state: FlowState) => Promise<T>) {
    await announce()
    for (let tries = 1; ; tries++) {
      try {
        return await step(await store.flow(job))
      } catch (error) {
        if (!hasCode(error, 'CONFLICT') || tries === TRIES) throw error
      }
    }
  }

  const shownWires = (wires: readonly WireView[], { nodes }: Graph) =>
    Promise.all(
      wires.map(async (wire) => {
        if (!wire.oldest && !wire.passed[0]) return wire
        const shown = {
          ...wire,
          oldest: wire.oldest && { ...wire.oldest },
          passed: wire.passed.map((item) => ({ ...item })),
        }
        for (const [{ node, port }, side] of [[wire.from, 'out'] as const, [wire.to, 'in'] as const]) {
          const { queue, class: name } = (node !== null && nodes[node]) || {}
          const found = queue && name ? await registry.find(queue, name) : undefined
          for (const item of [...shown.passed, ...(shown.oldest ? [shown.oldest] : [])])
            item.data = redacted(item.data, found?.definition.redact ?? [], side, port)
        }
        return shown
      }),
    )

  async function put(state: FlowState, graph: Graph, fields: Graphs, call?: Call): Promise<GraphChange> {
    const plan = await planOf(state, graph, graphIn(state))
    const planned = await wordsOf(state.id, plan.ops)
    await commit(
      state,
      [expectGraph(graphsOf(state).graph, store.vault), ...fieldWords(fields, store.vault), ...planned, RUN],
      call,
    )
    return changeOf(plan, true)
  }

  async function preview(state: FlowState, graph: Graph): Promise<GraphChange> {
    const plan = await planOf(state, graph, graphIn(state))
    const unfit = await unfitOf({ store, registry }, state, graph, plan)
    return { ...changeOf(plan, false), unfit: unfit.length > 0 ? unfit : undefined }
  }

  const versionBy = (call?: Call): Version => ({ at: store.now(), by: call?.by ?? null })

  function graphOf(state: FlowState): Graph {
    const graph = graphIn(state)
    if (!graph) throw new SidejobError('NOT_FOUND', `job ${state.id} has no graph`)
    return graph
  }

  function wireOf(state: FlowState, name: string) {
    const graph = graphOf(state)
    const found = wiresOf(graph).find(({ id }) => id === name)
    if (!found) throw new SidejobError('NOT_FOUND', `the graph of job ${state.id} has no wire ${JSON.stringify(name)}`)
    return { graph, found }
  }

  /** `begin` starts the node at the end of the wire. */
  async function openEnd(state: FlowState, graph: Graph, { to }: GraphWire) {
    const end = targetRef(to)
    if (hasStarted(state, to)) return { begin: [], end }
    return { begin: [...(await wordsOf(state.id, [spawnOf(graph, to.node!)])), RUN], end }
  }

  async function listed<Row>(
    { status = statuses, cursor: before, limit }: Query,
    read: (state: FlowState) => Row | Promise<Row>,
  ) {
    const { states, cursor } = await flowsOf(store, { status, before, limit })
    return { flows: await Promise.all(states.map((state) => read(state))), cursor }
  }

  return {
    flows: {
      async graph(job: Ref) {
        const state = await store.flow(job)
        return { graph: graphOf(state), hash: (await graphHashOf(state))! }
      },

      setGraph: (job: Ref, graph: Graph, { preview: isPreview = false, match }: GraphOptions, call?: Call) =>
        attempt(job, async (state) => {
          checkFlow(state)
          await checkMatch(state, match)
          if (isPreview) return preview(state, graph)
          const [was, text] = [graphsOf(state), graphText(graph)]
          return put(state, graph, text === was.graph ? was : withGraph(was, text, versionBy(call)), call)
        }),

      undoGraph: (job: Ref, { preview: isPreview = false, match }: GraphOptions, call?: Call) =>
        attempt(job, async (state) => {
          checkFlow(state)
          await checkMatch(state, match)
          const fields = withoutLast(graphsOf(state), versionBy(call))
          if (!fields) throw new SidejobError('WRONG_STATUS', `job ${state.id} has no previous graph`)
          const graph = readGraph(fields.graph)
          return isPreview ? preview(state, graph) : put(state, graph, fields, call)
        }),

      async graphHistory(job: Ref) {
        return { versions: await versionViews(await store.flow(job)) }
      },

      list: (query: Query) => listed(query, flowRow),

      views: (query: Query) => listed(query, flowView),

      async get(job: Ref) {
        const state = await store.flow(job)
        if (state.document.class !== 'flow') throw notOne(state)
        const view = await flowView(state)
        return view.graph ? { ...view, wires: await shownWires(view.wires, view.graph) } : view
      },

      async wires(job: Ref) {
        const state = await store.flow(job)
        const graph = graphOf(state)
        return { wires: await shownWires(wireViews(state, graph), graph) }
      },

      inject: (job: Ref, name: string, values: Encoded[], call?: Call) =>
        attempt(job, async (state) => {
          const { graph, found } = wireOf(state, name)
          const { begin, end } = await openEnd(state, graph, found)
          const [size] = await commit(state, [...begin, writeWords(end, { values }, store.vault)], call)
          return { size: Number(size) }
        }),

      async tryWire(
        job: Ref,
        name: string,
        { queue, class: of, in: port }: { queue: string; class: string; in: string },
      ) {
        const state = await store.flow(job)
        const { graph, found } = wireOf(state, name)
        const [wire] = await shownWires([wireView(state, found)], graph)
        const values = wire!.passed.map(({ data }) => data).reverse()
        return { runs: await tryValues(await registry.find(queue, of), `${queue}/${of}`, port, values) }
      },

      async drain(job: Ref, name: string, { max = MOST }: { max?: number }, call?: Call) {
        const state = await store.flow(job)
        const { found } = wireOf(state, name)
        // Before the target node starts, values wait at the source of the wire.
        const from = hasStarted(state, found.to) ? targetRef(found.to) : sourceRef(found.from)
        const [isDefault, ...items] = await change(String(state.id), [ops.take({ from, most: max })], call, MINUTE)
        return { values: isDefault ? [] : items.map((item): Item => shownItem(store.vault.show.item(item))) }
      },

      moveWire: (job: Ref, name: string, target: string, call?: Call) =>
        attempt(job, async (state) => {
          const { graph, found } = wireOf(state, name)
          const to = await openEnd(state, graph, wireOf(state, target).found)
          const from = await openEnd(state, graph, found)
          if (from.begin.length > 0) return { moved: 0 }
          const moving = ops.shift({ from: from.end, to: to.end, most: MOST })
          const [moved] = await commit(state, [...to.begin, moving], call)
          return { moved: Number(moved) }
        }),
    },

    graphs: {
      async get(name: string) {
        const text = await store.graph(name)
        if (text === null) throw new SidejobError('NOT_FOUND', `there is no graph ${name}`)
        return readGraph(text)
      },

      async list({ after, limit = GRAPHS, details = false }: { after?: string; limit?: number; details?: boolean }) {
        const most = details ? Math.min(limit, LOOKED_INTO) : limit
        const names = (await store.graphNames()).filter((name) => after === undefined || name > after).sort()
        const page = names.slice(0, most)
        const sizes = details && page.length > 0 ? (await store.graphs(page)).map(sizeOf) : []
        const graphs = page.map((name, i) => ({ name, ...sizes[i] }))
        return { graphs, cursor: names.length > most ? page.at(-1)! : null }
      },

      async set(name: string, graph: Graph, call?: Call) {
        await change('', [ops.graph({ name, text: graphText(graph), ...(call?.quota && { by: call.by }) })], call)
      },

      async remove(name: string, call?: Call) {
        const [wasThere] = await change('', [ops.graph({ name })], call)
        if (!wasThere) throw new SidejobError('NOT_FOUND', `there is no graph ${name}`)
      },
    },
  }
}
