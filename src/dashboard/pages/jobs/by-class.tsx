// Counts by class for a day: jobs, ends, waits and run times.

import type { Engine } from '../../../engine/index.ts'
import { queryWith } from '../../look.ts'
import type { Asked } from '../../page.ts'
import { Card, Choice, Empty, To } from '../../parts/layout.tsx'
import { Name, NameLink } from '../../parts/name.tsx'
import { Bars } from '../../parts/spark.tsx'
import { Table } from '../../parts/table.tsx'
import { count, percent } from '../../words/number.ts'
import { about } from '../../words/time.ts'

export type ByClassData = Awaited<ReturnType<Engine['stats']['classes']>>
export type ClassRow = ByClassData['classes'][number]

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
  const search = query.toString()
  const isByClass = query.get('by') === 'class'
  const isFailed = query.get('status') === 'failed'
  const to = (change: Record<string, string | undefined>) =>
    `/jobs${queryWith(search, { cursor: undefined, day: undefined, by: undefined, ...change })}`
  const [queue, name] = [query.get('queue') ?? undefined, query.get('class') ?? undefined]
  return (
    <Choice
      label="What is listed"
      options={[
        { text: 'Jobs', to: to(isFailed ? { status: undefined } : {}), on: !isByClass && !isFailed },
        { text: 'Errors', to: to({ status: 'failed' }), on: !isByClass && isFailed },
        { text: 'By class', to: `/jobs${queryWith('', { by: 'class', queue, class: name })}`, on: isByClass },
      ]}
    />
  )
}

/** Upper bounds of the median and the 95th percentile, because times are counted in buckets. */
function Span({ of, head }: { of: ClassRow['took']; head: string }) {
  if (!of) return <td class="num dimmer">–</td>
  return (
    <td class="num" data-head={head} title={`${about(of.mean)} on average`}>
      ≤ {about(of.p50)} <span class="dim">/</span> {about(of.p95)}
    </td>
  )
}

function Hours({ hours }: { hours: NonNullable<ClassRow['hours']> }) {
  const runs = Array.from({ length: 24 }, () => 0)
  for (const { at, runs: n } of hours) runs[new Date(at).getUTCHours()] = n
  const said = runs.flatMap((n, hour) => (n > 0 ? [`${count(n)} at ${hour}:00`] : [])).join(', ') || 'none'
  return (
    <td class={said === 'none' ? 'num dimmer' : 'num'} title={`Runs by the hour, UTC: ${said}`}>
      <span class="vh">{said}</span>
      <Bars values={runs} tone="f-running" />
    </td>
  )
}

const Count = ({ n, head }: { n: number; head: string }) => (
  <td class="num" data-head={head}>
    {n === 0 ? <span class="dimmer">0</span> : count(n)}
  </td>
)

function Row({ row: { queue, class: name, counts, waited, took, hours } }: { row: ClassRow }) {
  const ended = counts.completed + counts.failed
  const of = `queue=${encodeURIComponent(queue)}&class=${encodeURIComponent(name ?? '')}`
  return (
    <tr>
      <td class="fill">
        {name === null ? (
          <span class="dim">all other classes</span>
        ) : (
          <NameLink to={`/jobs?${of}`} of={name} most={40} isMain />
        )}
      </td>
      <td class="dim">
        <Name of={queue} most={24} />
      </td>
      <Count n={counts.made} head="made" />
      <Count n={counts.runs} head="runs" />
      <Count n={counts.completed} head="completed" />
      <td class="num" data-head="failed">
        {counts.failed === 0 ? (
          <span class="dimmer">0</span>
        ) : (
          <>
            {name === null ? count(counts.failed) : <To to={`/jobs?status=failed&${of}`}>{count(counts.failed)}</To>}{' '}
            <span class={counts.failed / ended > 0.01 ? 'up' : 'dim'}>{percent(counts.failed / ended)}</span>
          </>
        )}
      </td>
      <Span of={waited} head="waited" />
      <Span of={took} head="ran" />
      {hours && <Hours hours={hours} />}
    </tr>
  )
}

const heads = ['Class', 'Queue', '#Made', '#Runs', '#Completed', '#Failed', '#Wait, p50 / p95', '#Run, p50 / p95']

export function ByClass({ data: { day, classes, more }, query }: { data: ByClassData; query: URLSearchParams }) {
  const search = query.toString()
  const chosen = dayIn(query)
  return (
    <Card
      title={`By class, ${day}`}
      tag={`${count(classes.length)}${more ? ', of the first 50 queues' : ''}`}
      kind="list"
      right={
        <Choice
          label="Day"
          options={(['today', 'yesterday'] as const).map((one) => ({
            text: one === 'today' ? 'Today' : 'Yesterday',
            to: `/jobs${queryWith(search, { day: one === 'today' ? undefined : one })}`,
            on: one === chosen,
          }))}
        />
      }
    >
      {classes.length === 0 && <Empty>Nothing was counted {chosen} (UTC). Make a job.</Empty>}
      <Table
        caption={`Counts by class on ${day}, UTC`}
        heads={[...heads, ...(chosen === 'today' ? ['#Runs by the hour'] : [])]}
        kind="lined"
      >
        {classes.map((row) => (
          <Row row={row} />
        ))}
      </Table>
    </Card>
  )
}
