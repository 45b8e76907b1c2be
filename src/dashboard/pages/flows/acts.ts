import { SidejobError } from '../../../core/errors.ts'
import type { GraphChange, GraphVersion, PortView } from '../../../engine/engine.ts'
import type { Act, ActAsked, Confirm, Done } from '../../page.ts'
import { sum } from '../../words/counts.ts'
import { apiPath } from '../../words/paths.ts'
import { count, many, truncated } from '../../words/text.ts'
import { typedFor } from '../../words/value-form.ts'
import { KEEP } from './replay.tsx'

/** Bytes. */
const MOST_BACK = 262_144
const MOST_VALUES = 10_000

const wireOf = ({ form }: ActAsked): string => String(form.get('wire') ?? '')
const flowOf = ({ params }: ActAsked): string => apiPath('flows', params.job!)
const pathOf = (asked: ActAsked, verb: string): string =>
  apiPath('flows', asked.params.job!, 'wires', wireOf(asked), verb)

async function targetOf({ engine, params, form }: ActAsked): Promise<PortView | undefined> {
  const { wires, nodes } = await engine.flows.get(params.job!)
  const to = wires.find(({ id }) => id === form.get('wire'))?.to
  const job = nodes.find(({ name }) => name === to?.node)?.job
  if (!to || job === undefined || job === null) return undefined
  return (await engine.jobs.get(String(job), { schemas: true })).in[to.port]
}

async function valuesIn(asked: ActAsked): Promise<string> {
  const { form } = asked
  const whole = form.get('values')
  if (whole !== null) return String(whole)
  return `[${typedFor(await targetOf(asked), form)}]`
}

async function inject(asked: ActAsked): Promise<Done> {
  const values = await valuesIn(asked)
  const { size } = await asked.call<{ size: number }>('POST', pathOf(asked, 'inject'), `{"values":${values}}`)
  return { say: `${many(size, 'value is', 'values are')} now waiting on the wire` }
}

async function move(asked: ActAsked): Promise<Done> {
  const to = String(asked.form.get('to') ?? '')
  const { moved } = await asked.call<{ moved: number }>('POST', pathOf(asked, 'move'), { to })
  return { say: `${many(moved, 'value')} moved to ${to}` }
}

async function waiting({ engine, params, form }: ActAsked): Promise<number> {
  const { wires } = await engine.flows.wires(params.job!)
  const found = wires.find(({ id }) => id === form.get('wire'))
  if (!found) throw new SidejobError('NOT_FOUND', `the graph has no wire ${String(form.get('wire'))}`)
  return Math.min(MOST_VALUES, found.size || found.behind)
}

async function askDrain(asked: ActAsked): Promise<Confirm> {
  const n = await waiting(asked)
  // Takes at most the confirmed number of values, even if more have arrived.
  const sure = String(asked.form.get('sure') ?? '')
  const type = /^[1-9]\d*$/.test(sure) && Number(sure) <= n ? sure : String(n)
  return {
    title: `Drain ${wireOf(asked)}?`,
    text: [
      `This removes ${many(n, 'value')} from the wire. No job will read ${n === 1 ? 'it' : 'them'}.`,
      'You can undo this for ten seconds, unless the values exceed 256 KiB.',
    ],
    verb: 'Drain',
    type,
  }
}

async function drain(asked: ActAsked): Promise<Done> {
  const max = Math.max(1, Math.min(MOST_VALUES, Number(asked.form.get('sure')) || 1))
  const { values } = await asked.call<{ values: { data: unknown }[] }>('POST', pathOf(asked, 'drain'), { max })
  const text = JSON.stringify(values.map(({ data }) => data))
  return {
    say: `Drained ${many(values.length, 'value')}: ${truncated(text, 200)}`,
    ...(values.length > 0 && text.length <= MOST_BACK
      ? { undo: { act: 'inject', wire: wireOf(asked), values: text } }
      : {}),
  }
}

function changeLines({ start, stop, replace, wires, orphaned, unfit = [] }: GraphChange): string[] {
  const lost = sum(orphaned, ({ values }) => values)
  return [
    ...start.map((node) => `${node} starts.`),
    ...stop.map(({ node, job }) => `${node} is removed: job ${job} ends, unless it has ended.`),
    ...replace.map(({ node, job }) => `${node} gets a new job; job ${job} is removed from the flow.`),
    ...(wires.added.length > 0 ? [`New wires: ${wires.added.join(', ')}.`] : []),
    ...(wires.removed.length > 0 ? [`Removed wires: ${wires.removed.join(', ')}.`] : []),
    ...(lost > 0 ? [`${many(lost, 'value')} ${lost === 1 ? 'remains' : 'remain'} unread.`] : []),
    ...unfit.map(
      ({ wire, values, of, why }) =>
        `${count(values)} of ${many(of, 'value')} at ${wire} ${values === 1 ? 'does' : 'do'} not match the schema: ${why}.`,
    ),
  ]
}

function nodeLines(from: GraphVersion, to: GraphVersion): string[] {
  const [is, was] = [from, to].map(({ graph }) => Object.keys(graph.nodes)) as [string[], string[]]
  const [added, removed] = [was.filter((name) => !is.includes(name)), is.filter((name) => !was.includes(name))]
  return [
    ...(removed.length > 0 ? [`Removes ${removed.length === 1 ? 'node' : 'nodes'} ${removed.join(', ')}.`] : []),
    ...(added.length > 0 ? [`Adds ${added.length === 1 ? 'node' : 'nodes'} ${added.join(', ')}.`] : []),
  ]
}

async function askUndo({ engine, params }: ActAsked): Promise<Confirm> {
  const [change, { versions }] = await Promise.all([
    engine.flows.undoGraph(params.job!, { preview: true }),
    engine.flows.graphHistory(params.job!),
  ])
  const [from, to] = versions
  const lines = [...(from && to ? nodeLines(from, to) : []), ...changeLines(change)]
  const earlier = Math.max(0, versions.length - 2)
  return {
    title: 'Undo the last change?',
    text: [
      lines.length > 0 ? lines.join(' ') : 'This restores other settings of the graph. Nodes and wires do not change.',
      'Values that were already read stay read.',
      ...(earlier > 0 ? [`${many(earlier, 'earlier change')} can be undone after this one.`] : []),
    ],
    verb: 'Undo',
  }
}

const sends =
  (method: 'POST' | 'PUT' | 'DELETE', path: string, say: string, body?: (asked: ActAsked) => unknown) =>
  async (asked: ActAsked): Promise<Done> => {
    await asked.call(method, `${flowOf(asked)}/${path}`, body?.(asked))
    return { say }
  }

const askForget = async (): Promise<Confirm> => ({
  title: 'Stop recording?',
  text: ['This also deletes the recording of the flow, and cannot be undone. The flow itself continues.'],
  verb: 'Stop',
})

export const acts: Record<string, Act> = {
  inject: { scope: 'write', does: inject },
  move: { scope: 'write', does: move },
  drain: { scope: 'write', confirm: askDrain, does: drain },
  undo: { scope: 'write', confirm: askUndo, does: sends('POST', 'undo', 'The last change was undone') },
  record: { scope: 'write', does: sends('PUT', 'record', 'Recording is on', () => ({ keep: KEEP })) },
  forget: { scope: 'write', confirm: askForget, does: sends('DELETE', 'record', 'Recording is off') },
  graph: {
    scope: 'write',
    does: sends('POST', 'graph', 'The flow now has a graph', ({ form }) => String(form.get('graph') ?? '')),
  },
}
