// What is looked at without being changed: jobs, their trees, what waits at their ports, flows.

import { SidejobError } from '../../core/errors.ts'
import type { Status } from '../../core/job.ts'
import { filling, type Parts, refusalOf, toldOf } from '../parts.ts'
import { childrenOf, decodeRecord } from '../record.ts'
import * as scripts from '../scripts.generated.ts'
import type { AtWork, FlowNode, FlowNodeRow, FlowState, Inspection, Listed, RawWiring, Signal } from '../types.ts'
import { showing, type Vault } from '../vault.ts'
import { limitSettingsOf } from './limits.ts'

type RawInspection = [
  word: string,
  id: string,
  text: string,
  side: string[],
  children: string[],
  items: string[],
  ahead: string,
  facts: [string, string, string, string, string, string, string, string?],
  childCount: string,
  callback: string[],
]

type ListFilter = {
  mode: 'all' | 'children' | 'alias' | 'repeats'
  name?: string
  queue?: string
  /** One, or several with commas. */
  status?: string
  class?: string
  group?: string
  tag?: string
  /** How its callback goes. */
  callback?: string
  /** Made from and before these moments. */
  since?: number
  until?: number
  /** Whose run takes, or took, longer. */
  longer?: number
  before?: string
  limit: number
}

type FlowRow = [
  tag: 'flow',
  id: string,
  text: string,
  side: string[],
  children: string[],
  ports: [...RawWiring, oldest: string, left: string][],
  nodes: FlowNodeRow[],
]

const momentOf = (text: string): number | null => (text ? Number(text) : null)

const flowNodeOf = ([, queue, ranAt, lastRun, limit, leaseUntil, until]: FlowNodeRow): FlowNode => ({
  ...{ queue, ranAt: momentOf(ranAt), lastRun, limit: limit || null },
  ...{ leaseUntil: momentOf(leaseUntil), until: momentOf(until) },
})

const flowOf = ([, id, text, side, children, ports, nodes]: FlowRow, now: number, vault: Vault): FlowState => ({
  id: Number(id),
  document: decodeRecord(text, side, showing(vault)),
  children: childrenOf(children),
  ports: ports.map(([child, dir, port, size, hasDefault, wires, oldest, left]) => ({
    wiring: [child, dir, port, size, hasDefault, wires],
    ...(oldest ? { oldest: vault.show(oldest) } : {}),
    ...(left ? { left } : {}),
  })),
  nodes: new Map(nodes.map((row) => [row[0], flowNodeOf(row)])),
  now,
})

export function createLooks(parts: Parts) {
  const { client, keys, base, moments, vault } = parts
  const { open, show } = vault
  const { evaluate } = client
  const fill = filling(parts, showing(vault))

  async function inspect(job: string, of?: { dir: 'i' | 'o'; port: string; limit: number }): Promise<Inspection> {
    const answer = (await evaluate(
      scripts.inspect,
      [keys.hints, keys.listened],
      { ...base(), job, dir: of?.dir ?? '', port: of?.port ?? '', most: of?.limit ?? 0 },
      [],
    )) as never[]
    if (answer[0] === 'refused') throw refusalOf(answer[1]!, answer[2]!)
    const [, id, text, side, children, items, ahead, facts, childCount, callback] = answer as unknown as RawInspection
    const document = decodeRecord(text, side, showing(vault))
    moments.saw(Number(facts[4]))
    await fill([{ id: Number(id), document }])
    return {
      id: Number(id),
      document,
      ...toldOf(callback, vault),
      children,
      childCount: Number(childCount),
      items: items.map(show),
      ahead: ahead === '' ? null : Number(ahead),
      queue: {
        paused: facts[0] !== '',
        maxLanes: Number(facts[1]),
        lanes: Number(facts[2]),
        pull: facts[3] === 'pull',
      },
      limitFree: facts[5] ? Number(facts[5]) : null,
      now: Number(facts[4]),
      ...(facts[6] ? { ownLimit: facts[6] } : {}),
      ...(facts[7] ? { limit: limitSettingsOf(facts[7]) } : {}),
    }
  }

  async function list(filter: ListFilter): Promise<Listed> {
    const answer = (await evaluate(
      scripts.list,
      [],
      {
        ...base(),
        mode: filter.mode,
        name: filter.name ?? '',
        queue_name: filter.queue ?? '',
        status: filter.status ?? '',
        class: filter.class ?? '',
        group: filter.group ?? '',
        tag: filter.tag ?? '',
        callback: filter.callback ?? '',
        since: filter.since ?? 0,
        till: filter.until ?? 0,
        longer: filter.longer ?? -1,
        before: filter.before ?? '',
        most: filter.limit,
        scan: 1000,
      },
      [],
    )) as [string, [string, string, string[], string[]][], string, string]
    if (answer[0] === 'refused') throw refusalOf(answer[1] as unknown as string, answer[2])
    const jobs = answer[1].map(([id, text, side, callback]) => ({
      id: Number(id),
      document: decodeRecord(text, side, showing(vault)),
      ...toldOf(callback, vault),
    }))
    await fill(jobs)
    return { jobs, cursor: answer[2] || null, ...(answer[3] ? { total: Number(answer[3]) } : {}) }
  }

  async function tree(
    job: string,
    most = 5_000,
  ): Promise<{
    members: { id: number; parent: number | null; name: string; class: string; status: Status }[]
    more: boolean
  }> {
    const answer = (await evaluate(scripts.tree, [], { ...base(), job, most }, [])) as [string, string[][], string]
    if (answer[0] === 'refused') throw refusalOf(answer[1] as unknown as string, answer[2])
    const members = answer[1].map(([id, parent, name, className, status]) => ({
      id: Number(id),
      parent: parent ? Number(parent) : null,
      name: name!,
      class: className!,
      status: status as Status,
    }))
    return { members, more: answer[2] === 'more' }
  }

  /** The waiting values of several ports at once, behind `skip` of them, none taken; null where there is no such port. */
  async function peek(
    of: { id: number; dir: 'i' | 'o'; port: string }[],
    limit: number,
    skip = 0,
  ): Promise<({ taken: number; items: string[]; more: number } | null)[]> {
    const [, rows] = (await evaluate(scripts.peek, [], { ...base(), skip, most: limit }, [
      String(of.length),
      ...of.flatMap(({ id, dir, port }) => [String(id), dir, port]),
    ])) as [string, [string, string[], string, string][]]
    return rows.map((row) =>
      row.length ? { taken: Number(row[0]), items: row[1].map(open), more: Number(row[3]) } : null,
    )
  }

  /**
   * Flows as they are: each its document, its children, and its ports and theirs. A row says where there is none, and `later`
   * where that would be more than `most` nodes with those before it.
   */
  async function flows(jobs: readonly string[], most: number): Promise<(FlowState | SidejobError | 'later')[]> {
    const words = [String(jobs.length), ...jobs]
    const answer = await evaluate(scripts.flow, [], { ...base(), most }, words)
    const [, rows, now] = answer as [string, (FlowRow | ['refused', string, string] | ['later'])[], string]
    const found = rows.map((row) => {
      if (row[0] === 'flow') return flowOf(row, Number(now), vault)
      return row[0] === 'later' ? row[0] : refusalOf(row[1], row[2])
    })
    await fill(found.filter((one) => typeof one === 'object' && 'document' in one))
    return found
  }

  async function flow(job: string): Promise<FlowState> {
    const [found] = await flows([job], 0)
    if (found instanceof SidejobError) throw found
    return found as FlowState
  }

  /** Who is at work, and on what: at most so many runs. */
  async function atWork(most: number): Promise<AtWork> {
    const [, lanes, processes, runs, more, now] = (await evaluate(scripts.processes, [], { ...base(), most }, [])) as [
      string,
      [string, string, string][],
      [string, string][],
      [string, string, string, string, string, string, string][],
      string,
      string,
    ]
    return {
      lanes: lanes.map(([queue, lane, until]) => ({ queue, lane, until: Number(until) })),
      processes: processes.map(([name, record]) => {
        const [head, ...queues] = record.split('\n')
        const [since, heard, signal] = head!.split(',')
        return { name, since: Number(since), heard: Number(heard), signal: (signal || null) as Signal | null, queues }
      }),
      runs: runs.map(([job, queue, name, token, startedAt, leaseUntil, process]) => ({
        ...{ job: Number(job), queue, class: name, token },
        ...{ startedAt: Number(startedAt), leaseUntil: Number(leaseUntil) },
        ...(process ? { process } : {}),
      })),
      more: more !== '',
      now: Number(now),
    }
  }

  /** What a queue, or each of the first so many, has counted: as it was written down, and as it is now. */
  async function series(queue: string, kind: 'm' | 'h', mostQueues: number) {
    const args = { ...base(), queue_name: queue, kind, most_queues: mostQueues }
    const [, rows, more, now] = (await evaluate(scripts.series, [], args, [])) as [
      string,
      [queue: string, now: string, before: string[]][],
      string,
      string,
    ]
    return { rows: rows.map(([, latest, before]) => ({ latest, before })), more: more !== '', now: Number(now) }
  }

  /** Tells a process something; null: to go on. False: nobody has that name. */
  async function signal(name: string, word: Signal | null): Promise<boolean> {
    const [answer] = (await evaluate(scripts.signal, [], { ...base(), name, signal: word ?? '' }, [])) as [string]
    return answer === 'told'
  }

  return {
    inspect,
    atWork,
    series,
    signal,
    list,
    tree,
    peek,
    flow,
    flows,
    /** Values of a port from an offset on, none taken. */
    values: (id: number, dir: 'in' | 'out', port: string, from: number, n: number) =>
      peek([{ id, dir: dir === 'in' ? 'i' : 'o', port }], n, from).then(([row]) => row?.items ?? []),
  }
}
