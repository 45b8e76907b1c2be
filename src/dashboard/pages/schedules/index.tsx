// Schedules: twelve hours back and twelve ahead; what runs next, and what failed.

import type { ScheduleView } from '../../../engine/engine.ts'
import { page } from '../../page.ts'
import { Card, Choice, Empty, Head } from '../../parts/layout.tsx'
import { type Span, spanOf, spans } from '../../words/calendar.ts'
import { many } from '../../words/number.ts'
import { acts } from './acts.ts'
import { Calendar, zoneOf } from './calendar.tsx'
import { NewSchedule, type Preview, previewOf } from './new.tsx'

type SchedulesData = { schedules: ScheduleView[]; more: boolean; span: Span; preview?: Preview }

const MOST = 100

/** The zones that schedules are said in: the page can be read in each. */
const zonesOf = (schedules: readonly ScheduleView[]): string[] => [
  ...new Set(schedules.flatMap(({ repeat }) => zoneOf(repeat) ?? [])),
]

function View({ data: { schedules, more, span, preview } }: { data: SchedulesData }) {
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
      <div class="below">
        <NewSchedule preview={preview} />
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
    const { schedules, cursor } = await engine.schedules({ limit: MOST, until: look.now + span.after })
    const cron = query.get('cron')
    return {
      ...{ schedules, more: cursor !== null, span },
      ...(cron ? { preview: previewOf(cron, query.get('tz') ?? '', look.now) } : {}),
    }
  },
  title: () => 'Schedules',
  View,
  acts,
})
