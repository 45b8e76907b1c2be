// Schedules: twelve hours back and twelve ahead; what runs next, and what failed.

import { decodeValue, type Encoded } from '../../core/codec/value.ts'
import type { ScheduleView } from '../../engine/engine.ts'
import { useLook } from '../look.ts'
import { type Act, type ActAsked, page } from '../page.ts'
import { Act as Button, refusal, Sent } from '../parts/act.tsx'
import { Field, Select, TextArea } from '../parts/field.tsx'
import { Shape } from '../parts/icon.tsx'
import { Card, Choice, Empty, Head, JobId, To } from '../parts/layout.tsx'
import { Ago } from '../parts/moment.tsx'
import { laneOf, placeOf, type Span, spanOf, spans, ticksOf } from '../words/calendar.ts'
import { given, jsonText, maybe, objectOf } from '../words/form.ts'
import { many } from '../words/number.ts'
import { cut } from '../words/text.ts'
import { clock, dayOf, hourOf } from '../words/time.ts'

type SchedulesData = { schedules: ScheduleView[]; more: boolean; span: Span }

const MOST = 100
const DAY = 86_400_000

/** When it runs, in a few words. */
export function whenOf(repeat: Encoded): string {
  const rule = decodeValue(repeat) as {
    cron?: string
    tz?: string
    every?: string | number
    bedrock?: string
    missed?: string
  }
  const zone = rule.tz && rule.tz !== 'UTC' ? ` in ${rule.tz}` : ''
  const missed = rule.missed ? `; misses: ${rule.missed}` : ''
  if (rule.cron) return `${rule.cron}${zone}${missed}`
  if (rule.every !== undefined) return `every ${rule.every}${missed}`
  return rule.bedrock ?? encodedWords(repeat)
}

const encodedWords = (repeat: Encoded): string => cut(repeat, 60)

const pct = (n: number): string => `${Math.round(n * 100) / 100}%`

function Track({ schedule, span }: { schedule: ScheduleView; span: Span }) {
  const { now } = useLook()
  const { marks, band } = laneOf(schedule, now, span)
  const middle = pct(placeOf(now, now, span))
  const at = (moment: number) => placeOf(moment, now, span)
  return (
    <div class="trk">
      <svg role="img" aria-label={`${many(marks.length, 'mark')}${band ? ', and a slot every few minutes' : ''}`}>
        {band && (
          <rect
            class="bandnext"
            x={pct(at(band.from))}
            width={pct(Math.max(0, at(band.to) - at(band.from)))}
            y="12"
            height="8"
            rx="2"
          />
        )}
        {marks.map(({ at: moment, kind }) => (
          <circle class={kind === 'next' ? 'next' : `f-${kind}`} cx={pct(at(moment))} cy="16" r="4.5" />
        ))}
        <line class="s-accent" x1={middle} x2={middle} y1="0" y2="46" stroke-width="1.5" />
      </svg>
    </div>
  )
}

function Ticks({ span }: { span: Span }) {
  const { now, zone } = useLook()
  const isDay = span.before + span.after <= DAY
  return (
    <div class="trk hd">
      <svg aria-hidden="true">
        {ticksOf(now, span).map((at) => {
          const x = placeOf(at, now, span)
          return (
            x > 2 &&
            Math.abs(x - placeOf(now, now, span)) > 5 && (
              <text class="t11 mid" x={pct(x)} y="20">
                {isDay ? hourOf(at, zone) : dayOf(at, zone)}
              </text>
            )
          )
        })}
        <text class="t11 mid t-c accent" x={pct(placeOf(now, now, span))} y="20">
          now
        </text>
      </svg>
    </div>
  )
}

function Next({ schedule: { paused, next } }: { schedule: ScheduleView }) {
  const { now, zone } = useLook()
  const [first] = next
  if (paused || first === undefined)
    return (
      <div class="nxt">
        <span class="st suspended">
          <Shape status="suspended" />
          {paused ? 'paused' : 'no slot'}
        </span>
      </div>
    )
  return (
    <div class="nxt">
      <b>{first <= now ? 'due' : <Ago at={first} />}</b>
      <span class="sub">
        {first - now < DAY ? clock(first, zone) : `${dayOf(first, zone)}, ${hourOf(first, zone)}`}
      </span>
    </div>
  )
}

function Row({ schedule, span }: { schedule: ScheduleView; span: Span }) {
  const { job, class: name, aliases, paused, failing, repeat } = schedule
  const fields = { job: String(job) }
  const called = aliases[0] ?? name
  return (
    <>
      <div class="sch">
        <span class="row">
          <To to={`/jobs/${job}`}>
            <b>{cut(called, 26)}</b>
          </To>
          <JobId id={job} />
          {failing && (
            <span class="st pill failed">
              <Shape status="failed" />
              failed
            </span>
          )}
        </span>
        <span class="sub clip">{whenOf(repeat)}</span>
      </div>
      <Track schedule={schedule} span={span} />
      <Next schedule={schedule} />
      <div class="acts">
        <Button act="run" scope="write" fields={fields} icon="play" small label={`Run ${called} now`}>
          Run now
        </Button>
        {paused ? (
          <Button act="resume" scope="write" fields={fields} icon="play" small label={`Resume ${called}`} />
        ) : (
          <Button act="pause" scope="write" fields={fields} icon="pause" small label={`Pause ${called}`} />
        )}
        <Button
          act="stop"
          scope="write"
          fields={fields}
          icon="x"
          kind="quiet"
          small
          label={`Stop repeating ${called}`}
        />
      </div>
    </>
  )
}

function NewSchedule() {
  const { base, who } = useLook()
  const off = refusal(who.scopes, 'write')
  return (
    <Card title="New schedule" right="what it says is checked as it is made" id="new">
      <form class="form" method="post" action={`${base}/schedules`} data-act="set">
        <Sent act="set" />
        <div class="cronf">
          <Field name="alias" label="Name" required />
          <Field name="queue" label="Queue" value="default" required mono />
          <Field name="class" label="Class" required mono />
          <Field name="cron" label="When" note="cron" placeholder="30 2 * * *" required mono />
          <Field name="tz" label="Zone" placeholder="UTC" />
          <Select name="missed" label="Missed slots" options={['', 'run', 'last', 'skip']} />
        </div>
        <TextArea name="args" label="Args" note="JSON" rows={2} />
        <button class="btn primary" type="submit" disabled={off !== undefined} title={off}>
          Make it
        </button>
      </form>
    </Card>
  )
}

const of = ({ form }: ActAsked): string => `/v1/schedules/${encodeURIComponent(given(form, 'job'))}`

const acts: Record<string, Act> = {
  run: {
    scope: 'write',
    async does(asked) {
      await asked.call('POST', `${of(asked)}/run`, {})
      const job = given(asked.form, 'job')
      return { say: `#${job} runs now; its slots stay as they are`, link: { text: `#${job}`, to: `/jobs/${job}` } }
    },
  },
  pause: {
    scope: 'write',
    async does(asked) {
      await asked.call('POST', `${of(asked)}/pause`, {})
      return { say: 'The schedule is paused', undo: { act: 'resume', job: given(asked.form, 'job') } }
    },
  },
  resume: {
    scope: 'write',
    async does(asked) {
      const { next } = (await asked.call('POST', `${of(asked)}/resume`, {})) as { next: string[] }
      const when = next[0] ? ` at ${clock(Date.parse(next[0]), asked.look.zone)}` : ''
      return { say: `The schedule goes on${when}`, undo: { act: 'pause', job: given(asked.form, 'job') } }
    },
  },
  stop: {
    scope: 'write',
    confirm: ({ form }) => ({
      title: `Stop repeating #${given(form, 'job')}?`,
      text: ['Its names are free again. The job stays, and runs no more by itself.'],
      verb: 'Stop repeating',
    }),
    async does(asked) {
      await asked.call('DELETE', of(asked))
      return { say: `#${given(asked.form, 'job')} repeats no more` }
    },
  },
  set: {
    scope: 'write',
    async does({ form, call }) {
      const [tz, missed, args] = ['tz', 'missed', 'args'].map((name) => maybe(form, name))
      const body = objectOf({
        queue: JSON.stringify(given(form, 'queue')),
        class: JSON.stringify(given(form, 'class')),
        repeat: JSON.stringify({ cron: given(form, 'cron'), ...(tz ? { tz } : {}), ...(missed ? { missed } : {}) }),
        args: args && jsonText(args, 'args'),
      })
      const alias = given(form, 'alias')
      const { job } = (await call('PUT', `/v1/schedules/${encodeURIComponent(alias)}`, body)) as { job: number }
      return { say: `Schedule ${alias} is set`, link: { text: `#${job}`, to: `/jobs/${job}` } }
    },
  },
}

function Legend() {
  return (
    <div class="hd">
      <span class="legend">
        <span>
          <i class="done round" />
          completed
        </span>
        <span>
          <i class="failed round" />
          failed
        </span>
        <span>
          <i class="round hollow" />
          to come
        </span>
      </span>
    </div>
  )
}

function View({ data: { schedules, more, span } }: { data: SchedulesData }) {
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
      <Card kind="cal">
        {schedules.length === 0 ? (
          <Empty>Nothing repeats yet.</Empty>
        ) : (
          <div class="calgrid">
            <Legend />
            <Ticks span={span} />
            <div class="hd nxt">Next</div>
            <div class="hd" />
            {schedules.map((schedule) => (
              <Row schedule={schedule} span={span} />
            ))}
          </div>
        )}
      </Card>
      <div class="below">
        <NewSchedule />
      </div>
    </>
  )
}

export const schedules = page<SchedulesData>({
  path: '/schedules',
  nav: 'schedules',
  every: 10_000,
  async load({ engine, query }) {
    const { schedules, cursor } = await engine.schedules({ limit: MOST })
    return { schedules, more: cursor !== null, span: spanOf(query.get('view')) }
  },
  title: () => 'Schedules',
  View,
  acts,
})
