import type { ScheduleRow } from '../../../engine/engine.ts'
import type { Engine } from '../../../engine/index.ts'
import { asset as style } from '../../built/schedules-css.generated.ts'
import { useLook } from '../../look.ts'
import { type Asked, page } from '../../page.ts'
import { LinkButton } from '../../parts/act.tsx'
import { Card, Choice, Head, Link, To } from '../../parts/layout.tsx'
import { First } from '../../parts/snippet.tsx'
import { isOverdue, movedBy, type Shown, shownIn, spans } from '../../words/calendar.ts'
import { pausedNames } from '../../words/queue.ts'
import { dayAndHour, many } from '../../words/text.ts'
import { OnlyLastRun, RunRows } from '../job/runs.tsx'
import { acts, fieldsOf } from './acts.ts'
import { Calendar, zoneOf } from './calendar.tsx'
import { NewSchedule, previewOf } from './new.tsx'

type SchedulesData = Awaited<ReturnType<typeof load>>

const MOST = 100
/** Maximum schedules with past runs, and lifetime of these runs in the cache, in milliseconds. */
const [RUNS, SELDOM] = [40, 60_000]

const zonesOf = (schedules: readonly ScheduleRow[]): string[] => [
  ...new Set(schedules.flatMap(({ repeat }) => zoneOf(repeat) ?? [])),
]

function Moves({ shown }: { shown: Shown }) {
  const { zone } = useLook()
  return (
    <>
      {!shown.isNow && <span class="dim">{`${dayAndHour(shown.from, zone)} to ${dayAndHour(shown.to, zone)}`}</span>}
      <Choice
        label="Time"
        options={[
          { text: 'Earlier', to: movedBy(shown, -1), on: false },
          { text: 'Now', to: `/schedules?view=${shown.span.name}`, on: shown.isNow },
          { text: 'Later', to: movedBy(shown, 1), on: false },
        ]}
      />
    </>
  )
}

const SHOWN = 20

type Past = Awaited<ReturnType<typeof pastOf>>

async function pastOf(engine: Engine, job: string) {
  const [{ id, class: name, aliases, history }, { runs }] = await Promise.all([
    engine.jobs.get(job),
    engine.jobs.runs(job, { details: true }),
  ])
  return { id, name: aliases[0] ?? name, history, runs }
}

function PastRuns({ past: { id, name, history, runs } }: { past: Past }) {
  const more = runs.length - SHOWN
  return (
    <Card title={`Last runs of ${name}`} id="past" right={<Link to="/schedules">Close</Link>}>
      <RunRows id={id} runs={runs.slice(0, SHOWN)} />
      {more > 0 && (
        <p class="body">
          <To kind="link" to={`/jobs/${id}?tab=runs`}>{`${many(more, 'run')} more`}</To>
        </p>
      )}
      <OnlyLastRun history={history} />
    </Card>
  )
}

async function load({ engine, query, look, cache }: Asked) {
  const shown = shownIn(query, look.now)
  const change = query.get('change')
  const runs = query.get('runs')
  const isOpened = ['new', 'change', 'cron'].some((name) => query.has(name))
  const [{ schedules, cursor }, { stats }, ran, job, past, known] = await Promise.all([
    engine.schedules.list({ limit: MOST, inARow: 1 }),
    cache.glance(),
    cache.get('runs of schedules', SELDOM, () => engine.schedules.list({ limit: RUNS, runs: true })),
    change ? engine.jobs.get(change).catch(() => undefined) : undefined,
    runs ? pastOf(engine, runs).catch(() => undefined) : undefined,
    isOpened ? engine.workers.list() : undefined,
  ])
  const was = change && job ? fieldsOf(change, job) : undefined
  const [cron, tz] = [query.get('cron') ?? was?.cron, query.get('tz') ?? was?.tz ?? '']
  return {
    schedules,
    paused: pausedNames(stats),
    more: cursor !== null,
    shown,
    runs: new Map(ran.schedules.map((one) => [one.job, one.runs ?? []])),
    classes: known?.workers,
    preview: cron ? previewOf(cron, tz, look.now) : undefined,
    was,
    past,
  }
}

function View({
  data: { schedules, paused: queues, more, shown, runs, classes, preview, was, past },
}: {
  data: SchedulesData
}) {
  const { now } = useLook()
  const states = [
    ['overdue', (one: ScheduleRow) => isOverdue(one, now)],
    ['failed last time', (one: ScheduleRow) => one.failing],
    ['paused', (one: ScheduleRow) => one.paused],
  ] as const
  const counts = states.flatMap(([name, is]) => {
    const n = schedules.filter(is).length
    return n > 0 ? `, ${n} ${name}` : []
  })
  const note = `${more ? 'first ' : ''}${many(schedules.length, 'schedule')}${counts.join('')}`
  return (
    <>
      <Head title="Schedules" note={note}>
        <Moves shown={shown} />
        <Choice
          label="Period"
          options={spans.map(({ name, text }) => ({
            text,
            to: `/schedules?view=${name}`,
            on: name === shown.span.name,
          }))}
        />
        <LinkButton to="/schedules?new" scope="write" icon="plus" kind="primary" hotkey="c">
          New schedule
        </LinkButton>
      </Head>
      {classes && <NewSchedule preview={preview} was={was} classes={classes} />}
      <i hidden data-zones={zonesOf(schedules).join(' ')} />
      <Card kind="cal">
        {schedules.length === 0 ? (
          <First of="schedules" />
        ) : (
          <Calendar schedules={schedules} paused={queues} shown={shown} runs={runs} />
        )}
      </Card>
      {past && (
        <div class="below">
          <PastRuns past={past} />
        </div>
      )}
    </>
  )
}

export const schedules = page({
  path: '/schedules',
  nav: 'schedules',
  every: 10_000,
  load,
  View,
  acts,
  styles: [style.name],
})
