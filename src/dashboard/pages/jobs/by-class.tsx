import type { CurrentRun } from '../../../engine/engine.ts'
import type { Engine } from '../../../engine/index.ts'
import { queryWith } from '../../look.ts'
import type { Asked } from '../../page.ts'
import { Card, Choice, Name, NameLink, Zero } from '../../parts/layout.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { sum } from '../../words/counts.ts'
import type { ClassRow } from '../../words/failing.ts'
import { classJobsPath, jobsPath } from '../../words/paths.ts'
import { about, atLeast, count, longDay, many, percent } from '../../words/text.ts'
import { isPast } from './past.tsx'

type ByClassData = Awaited<ReturnType<Engine['stats']['classes']>>

const SHARED = 2_000

export const dayIn = (query: URLSearchParams): 'today' | 'yesterday' =>
  query.get('day') === 'yesterday' ? 'yesterday' : 'today'

export async function byClass(
  { engine, cache }: Asked,
  { class: name, ...of }: Parameters<Engine['stats']['classes']>[0] & { class?: string } = {},
  fresh = SHARED,
): Promise<ByClassData> {
  const found = await cache.get(`classes ${of.queue ?? ''}\n${of.day ?? 'today'}\n${of.hours ?? ''}`, fresh, () =>
    engine.stats.classes(of),
  )
  return name ? { ...found, classes: found.classes.filter((row) => row.class === name) } : found
}

export function Switch({ query }: { query: URLSearchParams }) {
  const isByClass = query.get('by') === 'class'
  const isOfHistory = isPast(query)
  const isPlain = !isByClass && !isOfHistory
  const isFailed = query.get('status') === 'failed'
  const to = (change: Record<string, string | undefined>) =>
    `/jobs${queryWith(query, { cursor: undefined, day: undefined, by: undefined, in: undefined, ...change })}`
  const [queue, name] = [query.get('queue') ?? undefined, query.get('class') ?? undefined]
  return (
    <Choice
      label="Content of the list"
      options={[
        { text: 'Jobs', to: to(isFailed ? { status: undefined } : {}), on: isPlain && !isFailed },
        { text: 'Errors', to: to({ status: 'failed' }), on: isPlain && isFailed },
        { text: 'By class', to: jobsPath({ by: 'class', queue, class: name }), on: isByClass },
        { text: 'History', to: to({ in: 'history' }), on: isOfHistory },
      ]}
    />
  )
}

/** Run times are counted in ranges, so each percentile is the upper end of its range. */
const times = (head: string, label: string, of: (row: ClassRow) => ClassRow['took']): Column<ClassRow> => ({
  head,
  kind: (row) => (of(row) ? '' : 'dimmer'),
  label: (row) => (of(row) ? label : undefined),
  title: (row) => (of(row) ? `${about(of(row)!.mean)} on average` : undefined),
  cell(row) {
    const spread = of(row)
    if (!spread) return '–'
    return (
      <>
        ≤ {about(spread.p50)} <span class="dim">/</span> {about(spread.p95)}
      </>
    )
  },
})

const number = (head: string, name: 'made' | 'runs' | 'completed'): Column<ClassRow> => ({
  head: `#${head}`,
  cell: ({ counts }) => (
    <>
      <Zero n={counts[name]} />
      {name === 'runs' && counts.lost > 0 && <span class="up"> {count(counts.lost)} lost</span>}
    </>
  ),
})

const ended = number('Ended runs', 'runs')

const running = (runs: readonly CurrentRun[], isCut: boolean): Column<ClassRow> => ({
  head: '#Running',
  cell(row) {
    const n = runs.filter((run) => run.queue === row.queue && run.class === row.class).length
    return <Zero n={n} to={classJobsPath(row, 'running')} text={atLeast(n, isCut)} />
  },
})

function Failed({ row }: { row: ClassRow }) {
  const { completed, failed } = row.counts
  const share = failed / (completed + failed)
  return (
    <>
      <Zero n={failed} to={row.class === null ? undefined : classJobsPath(row, 'failed')} />{' '}
      {failed > 0 && <span class={share > 0.01 ? 'up' : 'dim'}>{percent(share)}</span>}
    </>
  )
}

export const classColumns: readonly Column<Pick<ClassRow, 'queue' | 'class'>>[] = [
  {
    head: 'Class',
    kind: 'fill',
    cell: (row) =>
      row.class === null ? (
        <span class="dim">all other classes</span>
      ) : (
        <NameLink to={classJobsPath(row)} of={row.class} most={40} isMain />
      ),
  },
  { head: 'Queue', kind: 'dim', cell: ({ queue }) => <Name of={queue} most={24} /> },
]

const failed: Column<ClassRow> = {
  head: '#Failed jobs',
  kind: 'failing',
  cell: (row) => <Failed row={row} />,
}
const tookOf = ({ took }: ClassRow) => took

export const queuePageColumns: readonly Column<ClassRow>[] = [
  classColumns[0]!,
  ended,
  failed,
  times('#Run, p50 / p95', 'run p50 / p95', tookOf),
]

type ByClassProps = { data: ByClassData; runs: readonly CurrentRun[]; moreRuns: boolean; query: URLSearchParams }

export function ByClass({ data: { day, classes, more }, runs, moreRuns, query }: ByClassProps) {
  const chosen = dayIn(query)
  const isToday = chosen === 'today'
  const all = sum(classes, ({ counts }) => counts.runs)
  return (
    <Card
      title={longDay(Date.parse(day), 'UTC')}
      tag={atLeast(classes.length, more)}
      kind="list"
      right={
        <Choice
          label="Day"
          options={(['today', 'yesterday'] as const).map((one) => ({
            text: one === 'today' ? 'Today' : 'Yesterday',
            to: `/jobs${queryWith(query, { day: one === 'today' ? undefined : one })}`,
            on: one === chosen,
          }))}
        />
      }
    >
      <DataTable
        caption={`Counts by class on ${day}, UTC`}
        empty={`No jobs were counted ${chosen} (UTC).`}
        rows={classes.toSorted((a, b) => b.counts.failed - a.counts.failed)}
        columns={[
          ...classColumns,
          number('Made', 'made'),
          ...(isToday ? [running(runs, moreRuns)] : []),
          ended,
          number('Completed jobs', 'completed'),
          failed,
          times('#Wait, p50 / p95', 'wait', ({ waited }) => waited),
          times('#Run, p50 / p95', 'run', tookOf),
        ]}
        kind="lined split"
      />
      <p class="note foot">
        {many(all, 'run')} ended
        {isToday && `, ${atLeast(runs.length, moreRuns)} ${runs.length === 1 ? 'is' : 'are'} running`}. Times: p50 /
        p95. Most failed jobs first, then by queue.
      </p>
    </Card>
  )
}
