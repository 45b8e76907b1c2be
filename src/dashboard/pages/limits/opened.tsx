import type { Holder, LimitWaiter, RoomView } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { Since, To } from '../../parts/layout.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { colourOf } from '../../words/limit.ts'
import { jobPath } from '../../words/paths.ts'
import { clock, count, cut, span } from '../../words/text.ts'

export type Near = { limit: RoomView; holders: Holder[]; waiting: LimitWaiter[] }

type Share = { group: string | null; runs: number; waits: number }

function sharesOf({ holders, waiting }: Near): Share[] {
  const shares = new Map<string | null, Share>()
  const of = (group: string | null): Share => {
    const known = shares.get(group) ?? { group, runs: 0, waits: 0 }
    shares.set(group, known)
    return known
  }
  for (const { group } of holders) of(group).runs += 1
  for (const { group } of waiting) of(group).waits += 1
  return [...shares.values()].sort((a, b) => b.runs + b.waits - a.runs - a.waits)
}

export function Turns({ near, order = 'groups take turns' }: { near: Near; order?: string }) {
  const { now, zone } = useLook()
  const { limit, waiting } = near
  const more = limit.waiting - waiting.length
  const room = limit.nextRoom === null ? '' : `The next job can start at ${clock(limit.nextRoom, zone)}. `
  const full = limit.fullSince === null ? '' : `The first job has waited for ${span(now - limit.fullSince)}.`
  return (
    <div>
      <h3>
        Waiting, in order <span class="note">{order}</span>
      </h3>
      {waiting.length === 0 && <p class="note">No jobs are waiting.</p>}
      <div class="turns">
        {waiting.map(({ job, group }) => (
          <To kind={`turn ${colourOf(group)}`} to={`/jobs/${job}`}>
            <span class="gd" />
            <span class="id">#{job}</span>
          </To>
        ))}
        {more > 0 && <span class="turn">{count(more)} more</span>}
      </div>
      <p class="note noteup">
        {room}
        {full}
      </p>
    </div>
  )
}

const holderColumns: readonly Column<Holder>[] = [
  {
    head: 'Holder',
    kind: ({ group }) => colourOf(group),
    cell: ({ job, class: name }) => (
      <>
        <span class="gd inline" /> <To to={jobPath(job)}>{`${cut(name, 20)} #${job}`}</To>
      </>
    ),
  },
  { head: 'Process', kind: 'dim', cell: ({ process, group }) => process ?? group ?? '' },
  { head: '#Running for', cell: ({ startedAt }) => startedAt !== null && <Since at={startedAt} /> },
]

export const Holders = ({ near: { holders } }: { near: Near }) => (
  <DataTable caption="Holders" rows={holders} columns={holderColumns} />
)

export function Opened({ near }: { near: Near }) {
  const { limit, waiting } = near
  const shares = sharesOf(near)
  const most = Math.max(1, ...shares.map(({ runs, waits }) => runs + waits))
  return (
    <div class="open">
      <Turns near={near} />
      <div>
        <h3>
          By group {limit.waiting > waiting.length && <span class="note">of the first {waiting.length} waiting</span>}
        </h3>
        {shares.slice(0, 6).map(({ group, runs, waits }) => (
          <div class={`share ${colourOf(group)}`}>
            <span class="row">
              <span class="gd" />
              <span class="clip">{group ?? 'no group'}</span>
            </span>
            <svg width="100%" height="6" aria-hidden="true">
              <rect class="f-line" width="100%" height="6" rx="3" />
              <rect class="g" width={`${Math.round(((runs + waits) / most) * 100)}%`} height="6" rx="3" />
            </svg>
            <span class="dim num">
              {count(runs)} running, {count(waits)} waiting
            </span>
          </div>
        ))}
        <details class="noteup">
          <summary class="link">Holders</summary>
          <Holders near={near} />
        </details>
      </div>
    </div>
  )
}
