import {
  adoptions,
  type FlowFacts,
  type Graph,
  graphText,
  type Job,
  planGraph,
  port,
  readGraph,
  Terminal,
  withGraph,
} from '../src/index.ts'
import { defineFunction } from './library.ts'

const GRAPH = '__graph'

type Text = Awaited<ReturnType<Job['readClosed']>>

function parse(text: NonNullable<Text>): Graph {
  try {
    return readGraph(text)
  } catch (error) {
    throw new Terminal(`the graph: ${(error as Error).message}`, { cause: error })
  }
}

async function writtenGraph(job: Job): Promise<Graph | undefined> {
  let text: Text
  while (job.inPorts().includes(GRAPH) && job.size(GRAPH) > 0) text = await job.readClosed(GRAPH)
  return text && parse(text)
}

async function givenGraph(job: Job): Promise<Graph | undefined> {
  const args = job.args as [string] | { graph: unknown } | null
  const given = Array.isArray(args) ? args[0] : args?.graph
  if (given === undefined || given === null) return undefined
  if (typeof given === 'object') return parse(JSON.stringify(given))
  const stored = await job.storedGraph(String(given))
  return stored === null ? undefined : parse(stored)
}

const graphsOf = (job: Job) => ({
  graph: job.getClosed('graph'),
  history: job.getClosed('history'),
  versions: job.getClosed('versions'),
})

async function factsOf(job: Job, graph: Graph, before?: Graph): Promise<FlowFacts> {
  const inputs = job.inPorts().filter((name) => name !== GRAPH)
  const jobs = await Promise.all(
    adoptions(graph, before).map(async (one) => [one.job, await job.look(one.job)] as const),
  )
  return {
    id: job.id,
    children: job.children,
    wires: job.wires,
    inputs: Object.fromEntries(
      inputs.map((name) => [name, { size: job.size(name), default: job.default(name) !== undefined }]),
    ),
    jobs: Object.fromEntries(jobs),
  }
}

const MAX_SHOWN_FAULTS = 5

async function faultAt(job: Job, name: string): Promise<string> {
  const { id, status } = job.children[name]!
  if (status === 'terminated') return `node ${name} (job ${id}) was terminated`
  const error = (await job.look(id))?.error
  const { message } = error ? (JSON.parse(error) as { message?: string }) : {}
  return `node ${name} (job ${id}) failed${message ? `: ${message}` : ''}`
}

async function faultOf(job: Job, { nodes }: Graph): Promise<string | undefined> {
  const isBroken = (name: string) => ['failed', 'terminated'].includes(job.children[name]!.status)
  const broken = Object.keys(job.children).filter((name) => Object.hasOwn(nodes, name) && isBroken(name))
  if (broken.length === 0) return undefined
  const told = await Promise.all(
    broken
      .sort()
      .slice(0, MAX_SHOWN_FAULTS)
      .map((name) => faultAt(job, name)),
  )
  return [...told, ...(broken.length > MAX_SHOWN_FAULTS ? [`${broken.length - MAX_SHOWN_FAULTS} more`] : [])].join(', ')
}

export const flow = defineFunction({
  reach: 'all',
  class: 'flow',
  description:
    'Runs a graph of jobs. A node is a job that starts when a value or default reaches it; an edge moves values from port to port. The flow is completed while all its nodes are completed, and fails when a node fails. A new graph changes the running flow.',
  in: { [GRAPH]: port(), '*': port() },
  out: { '*': port() },
  // Retries a commit that was refused because another run had started the same node.
  retry: { max: 5, backoff: { base: 500, cap: 5_000 } },
  async perform(job: Job) {
    const text = job.getClosed('graph')
    const before = text === undefined ? undefined : parse(text)
    const graph = (await writtenGraph(job)) ?? before ?? (await givenGraph(job))
    if (!graph) return job.suspend()

    job.op({ op: 'expect', state: 'graph', ...(text === undefined ? {} : { value: text }) })
    const plan = planGraph(graph, before, await factsOf(job, graph, before))
    for (const op of plan.ops) job.op(op)
    const now = graphText(graph)
    const isNew = now !== text
    if (isNew) job.setClosed(withGraph(graphsOf(job), now, { at: Date.now(), by: null }))

    // Commit the changes to other nodes first, because a failed node fails this run.
    if ((await faultOf(job, graph)) && (plan.ops.length > 0 || isNew)) await job.checkpoint()
    const fault = await faultOf(job, graph)
    if (fault) throw new Terminal(fault)
    return job.follow()
  },
})
