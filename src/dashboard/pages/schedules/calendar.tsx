import { decodeValue, type Encoded } from '../../../core/codec/value.ts'
import type { PastRun } from '../../../core/run.ts'
import { DAY } from '../../../core/units.ts'
import type { ScheduleRow, ScheduleView } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { Act, LinkButton, Pause } from '../../parts/act.tsx'
import { Ago, JobId, Link, NameLink, StatusText, To } from '../../parts/layout.tsx'
import { Legend } from '../../parts/spark.tsx'
import { What } from '../../parts/what.tsx'
import { isOverdue, laneOf, movedWords, passedWords, placeOf, type Shown, ticksOf } from '../../words/calendar.ts'
import { cronWords } from '../../words/cron.ts'
import { schedulePath } from '../../words/paths.ts'
import { clock, cut, dayAndHour, dayOf, hourOf, many, pct } from '../../words/text.ts'

type Rule = { cron?: string; tz?: string; every?: string | number; bedrock?: string; missed?: string }

export const zoneOf = (repeat: Encoded): string | undefined => (decodeValue(repeat) as Rule).tz

function isCron(repeat: Encoded): boolean {
  const { cron, tz: _, missed: __, ...more } = Object(decodeValue(repeat)) as Rule
  return typeof cron === 'string' && Object.keys(more).length === 0
}

function whenOf(repeat: Encoded): string {
  const rule = decodeValue(repeat) as Rule
  const zone = rule.tz && rule.tz !== 'UTC' ? ` in ${rule.tz}` : ''
  const missed = rule.missed ? `; missed slots: ${rule.missed}` : ''
  if (rule.cron) return `${cronWords(rule.cron) ?? rule.cron}${zone}${missed}`
  if (rule.every !== undefined) return `every ${rule.every}${missed}`
  return rule.bedrock ?? cut(repeat, 60)
}

type Drawn = { shown: Shown; paused: ReadonlySet<string>; runs: ReadonlyMap<number, readonly PastRun[]> }

const isWithin = (at: number, { from, to }: Shown): boolean => at >= from && at <= to

function Track({ schedule, shown, runs }: Omit<Drawn, 'paused'> & { schedule: ScheduleView }) {
  const { now } = useLook()
  const { marks, band } = laneOf(schedule, shown, runs.get(schedule.job))
  const middle = pct(placeOf(now, shown))
  const at = (moment: number) => placeOf(moment, shown)
  return (
    <div class="trk">
      <svg role="img" aria-label={`${many(marks.length, 'mark')}${band ? ', and a slot every few minutes' : ''}`}>
        {band && (
          <rect
            class="bandnext"
            x={pct(at(band.from))}
            width={pct(Math.max(0, at(band.to) - at(band.from)))}
            y="50%"
            height="8"
            rx="2"
          />
        )}
        {marks.map(({ at: moment, kind }) => (
          <circle
            class={['next', 'overdue', 'moved', 'passed', 'caught'].includes(kind) ? kind : `f-${kind}`}
            cx={pct(at(moment))}
            cy="50%"
            r="4.5"
          />
        ))}
        {!band && !schedule.paused && schedule.nextAt !== null && schedule.nextAt > shown.to && (
          <text class="t11" x="100%" y="50%" dx="-18" dy="4">
            →
          </text>
        )}
        {isWithin(now, shown) && <line class="s-accent" x1={middle} x2={middle} y1="0" y2="100%" stroke-width="1.5" />}
      </svg>
    </div>
  )
}

function Ticks({ shown }: { shown: Shown }) {
  const { now, zone } = useLook()
  const isDay = shown.to - shown.from <= DAY
  const isHere = isWithin(now, shown)
  const middle = placeOf(now, shown)
  return (
    <div class="trk hd">
      <svg aria-hidden="true">
        {ticksOf(shown).map((at) => {
          const x = placeOf(at, shown)
          return (
            x > 6 &&
            x < 94 &&
            !(isHere && Math.abs(x - middle) <= 11) && (
              <text class="t11 mid" x={pct(x)} y="20">
                {isDay ? hourOf(at, zone) : dayOf(at, zone)}
              </text>
            )
          )
        })}
        {isHere && (
          <text class="t11 mid t-c accent" x={pct(middle)} y="20">
            now
          </text>
        )}
      </svg>
    </div>
  )
}

function Next({ schedule, schedule: { job, paused, nextAt: first, repeat } }: { schedule: ScheduleView }) {
  const { now, zone } = useLook()
  const own = zoneOf(repeat) ?? zone
  if (paused || first === null)
    return (
      <div class="nxt">
        <StatusText status="suspended">{paused ? 'paused' : 'no slot'}</StatusText>
      </div>
    )
  return (
    <div class="nxt">
      {isOverdue(schedule, now) ? (
        <span class="row">
          <StatusText status="failed">overdue</StatusText>
          <Link to={`/jobs/${job}`}>Why</Link>
        </span>
      ) : (
        <b>{first <= now ? 'due' : <Ago at={first} />}</b>
      )}
      <span class="sub">
        {first <= now && 'since '}
        {first - now < DAY ? clock(first, zone) : dayAndHour(first, zone)}
        {own !== zone && ` ${zone}`}
      </span>
    </div>
  )
}

function LaneNotes({ schedule, shown, paused }: Omit<Drawn, 'runs'> & { schedule: ScheduleRow }) {
  const { missed, catchingUp, moved, nextAt, reason } = schedule
  const { now, zone } = useLook()
  const lines = [
    reason && nextAt !== null && nextAt <= now && (
      <What job={{ ...schedule, reason, progress: null, ranAt: null, message: null }} paused={paused} />
    ),
    missed &&
      missed.to > shown.from &&
      missed.from < shown.to &&
      `${passedWords(missed)}${catchingUp ? ', in progress' : ''}`,
    moved && moved.at < Math.max(shown.to, now + 7 * DAY) && `${movedWords(moved)}; runs ${dayAndHour(moved.at, zone)}`,
  ]
  return lines.filter(Boolean).map((line) => <span class="sub clip">{line}</span>)
}

function Title({ schedule, called }: { schedule: ScheduleView; called: string }) {
  const { job, failing, repeat, lastRun } = schedule
  const last = lastRun?.outcome ?? 'no runs yet'
  return (
    <>
      <span class="row">
        <NameLink to={`/jobs/${job}`} of={called} most={22} isMain />
        <JobId id={job} />
        <To
          kind={failing ? 'st failed' : 'link'}
          to={`/schedules?runs=${job}#past`}
          label={`Last runs of ${called}: ${last}`}
        >
          {last} {lastRun && <Ago at={lastRun.endedAt} />}
        </To>
      </span>
      <span class="sub clip" title={repeat}>
        {`${cut(schedule.class, 30)}: ${whenOf(repeat)}`}
      </span>
    </>
  )
}

function Acts({ schedule: { job, aliases, paused, repeat }, called }: { schedule: ScheduleView; called: string }) {
  const shared = { scope: 'write', fields: { job }, small: true } as const
  return (
    <div class="acts">
      <Act {...shared} act="run" icon="play" label={`Run now: ${called}`}>
        Run now
      </Act>
      <Pause {...shared} paused={paused} of={called} />
      {aliases[0] && isCron(repeat) && (
        <LinkButton to={schedulePath(aliases[0])} scope="write" small label={`Change ${called}`}>
          Change
        </LinkButton>
      )}
      <Act {...shared} act="stop" icon="x" kind="quiet" label={`Stop repeating ${called}`}>
        Stop
      </Act>
    </div>
  )
}

function Row({ schedule, shown, paused, runs }: Drawn & { schedule: ScheduleRow }) {
  const called = schedule.aliases[0] ?? schedule.class
  return (
    <>
      <div class="sch">
        <Title schedule={schedule} called={called} />
        <LaneNotes schedule={schedule} shown={shown} paused={paused} />
      </div>
      <Track schedule={schedule} shown={shown} runs={runs} />
      <Next schedule={schedule} />
      <Acts schedule={schedule} called={called} />
    </>
  )
}

const LEGEND = [
  ['done round', 'completed'],
  ['failed round', 'failed'],
  ['round hollow', 'upcoming'],
  ['upcoming', 'upcoming, many'],
  ['round overdue', 'overdue'],
  ['round caught', 'caught up'],
  ['round passed', 'skipped'],
] as const

export function Calendar({ schedules, ...drawn }: Drawn & { schedules: readonly ScheduleRow[] }) {
  return (
    <div class="calgrid">
      <div class="hd">Schedule and last run</div>
      <Ticks shown={drawn.shown} />
      <div class="hd nxt">Next</div>
      <div class="hd" />
      {schedules.map((schedule) => (
        <Row schedule={schedule} {...drawn} />
      ))}
      <div class="legend">
        <Legend of={LEGEND} />
      </div>
    </div>
  )
}
