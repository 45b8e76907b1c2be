// Schedules: twelve hours back and twelve ahead; what runs next, and what failed.

import type { ScheduleView } from '../../../engine/engine.ts'
import { asset as style } from '../../built/schedules-css.generated.ts'
import { page } from '../../page.ts'
import { Card, Choice, Empty, Head } from '../../parts/layout.tsx'
import { type Span, spanOf, spans } from '../../words/calendar.ts'
import { many } from '../../words/number.ts'
import { acts, fieldsOf } from './acts.ts'
import { Calendar, zoneOf } from './calendar.tsx'
import { NewSchedule, type Preview, previewOf } from './new.tsx'
import { type Past, PastRuns, pastOf } from './past.tsx'

type SchedulesData = {
  schedules: ScheduleView[]
  more: boolean
  span: Span
  preview?: Preview
  was?: Record<string, string>
  past?: Past
}

const MOST = 100

/** The zones that schedules are said in: the page can be read in each. */
const zonesOf = (schedules: readonly ScheduleView[]): string[] => [
  ...new Set(schedules.flatMap(({ repeat }) => zoneOf(repeat) ?? [])),
]

function View({ data: { schedules, more, span, preview, was, past } }: { data: SchedulesData }) {
  const paused = schedules.filter((one) => one.paused).length
  const failing = schedules.filter((one) => one.failing).length
  const note = `${many(schedules.length, 'schedule')}${more ? ' and more' : ''}; ${paused} paused, ${failing} failed last time`
  return (
    <>
      <Head title="Schedules" note={note}>
        <Choice
          label="Stretch"
          wide
          options={spans.map(({ name, text }) => ({ text, to: `/schedules?view=${name}`, on: name === span.name }))}
        />
        <a class="btn primary" href="#new">
          New schedule
        </a>
      </Head>
      <i hidden data-zones={zonesOf(schedules).join(' ')} />
      <Card kind="cal">
        {schedules.length === 0 ? <Empty>Nothing repeats yet.</Empty> : <Calendar schedules={schedules} span={span} />}
      </Card>
      <div class="below stack">
        {past && <PastRuns past={past} />}
        <NewSchedule preview={preview} was={was} />
      </div>
    </>
  )
}

export const schedules = page<SchedulesData>({
  path: '/schedules',
  nav: 'schedules',
  every: 10_000,
  async load({ engine, query, look }) {
    const span = spanOf(query.get('view'))
    const change = query.get('change')
    const runs = query.get('runs')
    const [{ schedules, cursor }, job, past] = await Promise.all([
      engine.schedules({ limit: MOST, until: look.now + span.after }),
      change ? engine.get(change).catch(() => undefined) : undefined,
      runs ? pastOf(engine, runs).catch(() => undefined) : undefined,
    ])
    const was = change && job ? fieldsOf(change, job) : undefined
    const [cron, tz] = [query.get('cron') ?? was?.cron, query.get('tz') ?? was?.tz ?? '']
    return {
      ...{ schedules, more: cursor !== null, span },
      ...(cron ? { preview: previewOf(cron, tz, look.now) } : {}),
      ...(was ? { was } : {}),
      ...(past ? { past } : {}),
    }
  },
  title: () => 'Schedules',
  View,
  acts,
  styles: [style.name],
})
