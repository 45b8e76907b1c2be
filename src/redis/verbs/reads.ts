import { SidejobError } from '../../core/errors.ts'
import { readList, tryRead } from '../../core/readable.ts'
import type { Reply, Row, Signal } from '../answers.ts'
import { claimedJob } from '../claimed.ts'
import { PIECE } from '../packed-jobs.ts'
import { callbackOf, listWords, loadLeftOut, type Parts, refusalOf } from '../parts.ts'
import { childrenOf, decodeRecord, limitSettingsOf, sideOf } from '../record.ts'
import * as scripts from '../scripts.generated.ts'
import type { FlowState, Inspection, Listed } from '../types.ts'
import type { Vault } from '../vault.ts'

const SCANNED = 1_000

type ListFilter = {
  mode: 'all' | 'ended' | 'children' | 'alias' | 'ids' | 'repeats'
  name?: string
  queue?: string
  status?: string
  class?: string
  group?: string
  tag?: string
  callback?: string
  since?: number
  until?: number
  longer?: number
  waits?: 'limit' | 'retry' | 'function'
  /** Also matches failed jobs without a kind. `-` matches only failed jobs without a kind. */
  kind?: string
  before?: string
  limit: number
}

export const activityOf = ({ processes, ...found }: Omit<Reply<'atWork'>, 'is'>) => ({
  ...found,
  processes: processes.map(({ name, record }) => ({ name, ...processIn(record) })),
})

const flowOf = ({ id, document, side, children, ports, nodes }: Row<'flow'>, now: number, vault: Vault): FlowState => ({
  id,
  now,
  ports: ports.map(({ oldest, passed, ...port }) => ({
    ...port,
    oldest: oldest && vault.show.item(oldest),
    passed: readList(passed).map(vault.show.item),
  })),
  document: decodeRecord(document, side, vault.show),
  children: childrenOf(children),
  nodes: new Map(nodes.map((node) => [node.name, node])),
})

export function processIn(record: string) {
  const [head, ...queues] = record.split('\n')
  const [since, seenAt, signal] = head!.split(',')
  return { since: Number(since), seenAt: Number(seenAt), signal: (signal || null) as Signal | null, queues }
}

const unreadableJob = (id: number): SidejobError =>
  new SidejobError(
    'UNREADABLE',
    `the record of job ${id} is damaged: run \`sidejob doctor --repair --yes\`, or delete the job with force`,
  )

type PortAsked = { dir: 'i' | 'o'; port: string; limit: number }

type Further = { kin?: number; deep?: number }

export function createReads(parts: Parts) {
  const { keys, call, moments, vault } = parts
  const fill = loadLeftOut(parts, vault.show)

  type StartedRead = { further: Required<Further>; answer: Promise<Inspection> }
  const started = new Map<string, StartedRead>()

  /** Reads of the same job in one turn of the event loop share one call. */
  function inspect(job: string, asked: PortAsked | Further = {}): Promise<Inspection> {
    if ('port' in asked) return read(job, { ...asked, kin: 0, deep: 0 })
    const { kin = 0, deep = 0 } = asked
    const known = started.get(job)
    if (known) {
      known.further.kin = Math.max(known.further.kin, kin)
      known.further.deep = Math.max(known.further.deep, deep)
      return known.answer
    }
    const further = { kin, deep }
    const answer = Promise.resolve().then(() => {
      started.delete(job)
      return read(job, further)
    })
    started.set(job, { further, answer })
    return answer
  }

  function inspectionOf(row: Row<'inspected'>): (Inspection & { isWhole: boolean }) | undefined {
    const { paused, maxLanes, lanes, mode, now, limitFree, ownLimit, limit } = row.facts!
    const document = tryRead(() => decodeRecord(row.document, row.side, vault.show))
    return (
      document && {
        id: row.id,
        document,
        ...callbackOf(row.callback, vault),
        children: row.children,
        childCount: row.childCount,
        items: [],
        ahead: row.ahead,
        limitFree,
        now,
        queue: { paused, maxLanes, lanes, pull: mode === 'pull' },
        ownLimit,
        limit: limit === undefined ? undefined : limitSettingsOf(limit),
        isWhole: row.whole,
      }
    )
  }

  const listed = (rows: readonly Row<'listed'>[]): Listed['jobs'] =>
    rows.flatMap(({ id, document: text, side, callback }) => {
      const document = tryRead(() => decodeRecord(text, side, vault.show))
      return document ? [{ id, document, ...callbackOf(callback, vault) }] : []
    })

  async function read(job: string, asked: Required<Further> & Partial<PortAsked>): Promise<Inspection> {
    const { kin: most, deep, dir = '', port = '', limit = 0 } = asked
    const args = { job, dir, port, most: limit, most_kin: most, deep }
    const found = await call(scripts.inspect, args, { keys: [keys.hints, keys.listened] })
    const inspection = inspectionOf(found.job!)
    if (!inspection) throw unreadableJob(found.job!.id)
    moments.saw(inspection.now)
    const chain = found.chain.flatMap((row) => inspectionOf(row) ?? [])
    const kin = listed(found.kin)
    await fill([inspection, ...chain, ...kin])
    return {
      ...inspection,
      items: found.items.map(vault.show.item),
      kin: found.hasKin ? kin : undefined,
      chain: deep > 0 ? new Map(chain.map((one) => [one.id, one])) : undefined,
    }
  }

  /** Upstash loads declared documents from disk before it locks all keys for the script. */
  function documentsOf({ mode, name, before, limit, queue, status, kind, since, ...filter }: ListFilter): string[] {
    const most = Object.values(filter).some((one) => one !== undefined) ? SCANNED : limit
    const next = mode === 'all' && !queue && !status ? Number(before) - 1 : 0
    const scanned = Array.from({ length: Math.min(most, next) || 0 }, (_, i) => next - i)
    const ids = mode === 'ids' ? name!.split(',').slice(0, most).map(Number) : scanned
    return [...ids.map(keys.job), ...new Set(ids.map((id) => keys.piece(Math.floor(id / PIECE))))]
  }

  async function list(filter: ListFilter): Promise<Listed> {
    const { total, newest, cursor, ids, ...found } = await call(
      scripts.list,
      {
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
        awaits: filter.waits ?? '',
        kind: filter.kind ?? '',
        before: filter.before ?? '',
        most: filter.limit,
        scan: SCANNED,
      },
      { keys: documentsOf(filter) },
    )
    if (ids.length > 0) {
      const page = await list({ ...filter, mode: 'ids', name: ids.join() })
      return { ...page, cursor: page.cursor ?? cursor, total, newest: page.newest ?? newest }
    }
    const jobs = listed(found.jobs)
    await fill(jobs)
    return { jobs, cursor, total, newest }
  }

  /** `jobs` does not contain deleted jobs. */
  async function snapshots(ids: readonly number[]) {
    const { jobs: found, seen } = await call(scripts.snapshots, {}, { rest: listWords(ids.map(String)) })
    const jobs = found.flatMap(({ id, claimed }) => tryRead(() => claimedJob(claimed!, { open: vault.show }, id)) ?? [])
    await fill(jobs)
    return { jobs, seen }
  }

  const tree = (job: string, most = 5_000) => call(scripts.tree, { job, most })

  async function peek(
    of: { id: number; dir: 'i' | 'o'; port: string }[],
    limit: number,
    skip = 0,
  ): Promise<({ taken: number; items: string[]; more: number } | null)[]> {
    const rest = [String(of.length), ...of.flatMap(({ id, dir, port }) => [String(id), dir, port])]
    const { ports } = await call(scripts.peek, { skip, most: limit }, { rest })
    return ports.map((row) =>
      row ? { taken: row.taken, items: row.items.map(vault.open.item), more: row.more } : null,
    )
  }

  /** Returns an error for a missing flow, and 'later' for a flow that would exceed `most` nodes in total. */
  async function flows(jobs: readonly string[], most: number): Promise<(FlowState | SidejobError | 'later')[]> {
    const { flows: shown, now } = await call(scripts.flow, { most }, { rest: listWords(jobs) })
    const found = shown.map((row) => {
      if (row.word === 'flow') return flowOf(row, now, vault)
      return row.word === 'later' ? 'later' : refusalOf(row)
    })
    await fill(found.filter((one) => typeof one === 'object' && 'document' in one))
    return found
  }

  async function flow(job: string): Promise<FlowState> {
    const [found] = await flows([job], 0)
    if (found instanceof SidejobError) throw found
    return found as FlowState
  }

  const atWork = async (most: number) => activityOf(await call(scripts.processes, { most }))

  const classes = (queue: string, mostQueues: number, hourBytes = 0) =>
    call(scripts.classes, { queue_name: queue, most_queues: mostQueues, most_bytes: hourBytes })

  async function errors({ queue = '', class: name = '', newest }: { queue?: string; class?: string; newest: number }) {
    const { queues } = await call(scripts.errors, { queue_name: queue, class: name, most: newest })
    return queues.map(({ kinds, ...row }) => ({
      ...row,
      kinds: kinds.map(({ error, ...kind }) => ({ ...kind, ...(error && { error: vault.show.error(error) }) })),
    }))
  }

  async function signal(name: string, word: Signal | null): Promise<boolean> {
    return (await call(scripts.signal, { name, signal: word ?? '' })).is === 'sent'
  }

  return {
    inspect,
    atWork,
    classes,
    errors,
    signal,
    list,
    snapshots,
    tree,
    peek,
    flow,
    flows,
    values: (id: number, dir: 'in' | 'out', port: string, from: number, n: number) =>
      peek([{ id, dir: sideOf(dir), port }], n, from).then(([row]) => row?.items ?? []),
  }
}
