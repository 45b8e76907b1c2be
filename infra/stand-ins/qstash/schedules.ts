import { randomUUID } from 'node:crypto'
import type { Broker } from './broker.ts'
import type { Clock, Timer } from './clock.ts'
import type { Journal } from './journal.ts'
import { type Headers, limits, listed, Refusal, readSettings } from './message.ts'
import { nextTick } from './rules.ts'

type Progress = 'IN_PROGRESS' | 'SUCCESS' | 'FAIL'
type Facts = {
  id: string
  cron: string
  destination: string
  createdAt: number
  headers: Headers
  callerIP: string
  isPaused: boolean
  lastTime?: number
  lastStates: Record<string, Progress>
}
type Schedule = Facts & { body: Buffer; timer?: Timer; nextTime?: number }
type Order = Pick<Schedule, 'destination' | 'headers' | 'body' | 'callerIP'> & {
  cron: string | undefined
  id: string | undefined
}
export type Schedules = ReturnType<typeof createSchedules>

export function createSchedules({ clock, broker, journal }: { clock: Clock; broker: Broker; journal: Journal }) {
  const schedules = new Map<string, Schedule>()
  for (const value of journal.values('schedules')) start(fromJournal(value))

  return {
    create({ id = `scd_${randomUUID().replaceAll('-', '')}`, cron, ...rest }: Order): string {
      if (!/^[A-Za-z0-9._-]+$/.test(id))
        throw new Refusal(400, `schedule id "${id}" may have only letters, digits, - . and _`)
      checkCron(cron, clock.now())
      readSettings(rest.headers)
      if (!schedules.has(id) && schedules.size >= limits.schedules) {
        throw new Refusal(412, `there are ${limits.schedules} schedules already; delete one first`)
      }
      clock.cancel(schedules.get(id)?.timer)
      start({ id, cron, ...rest, createdAt: clock.now(), isPaused: false, lastStates: {} })
      return id
    },

    get: (id: string) => view(find(id)),
    list: () => [...schedules.values()].map(view),

    drop(id: string): void {
      clock.cancel(find(id).timer)
      schedules.delete(id)
      journal.drop('schedules', id)
    },

    setPaused(id: string, isPaused: boolean): void {
      const schedule = find(id)
      schedule.isPaused = isPaused
      keep(schedule)
      arm(schedule)
    },
  }

  function find(id: string): Schedule {
    const schedule = schedules.get(id)
    if (!schedule) throw new Refusal(404, `schedule ${id} not found`)
    return schedule
  }

  function start(schedule: Schedule) {
    schedules.set(schedule.id, schedule)
    keep(schedule)
    arm(schedule)
  }

  function keep(schedule: Schedule) {
    journal.put('schedules', schedule.id, () => toJournal(schedule))
  }

  // Skips missed times.
  function arm(schedule: Schedule) {
    clock.cancel(schedule.timer)
    schedule.nextTime = nextTick(schedule.cron, clock.now())
    const armed = !schedule.isPaused && schedule.nextTime !== undefined
    schedule.timer = armed ? clock.at(schedule.nextTime!, () => tick(schedule)) : undefined
  }

  function tick(schedule: Schedule) {
    arm(schedule)
    const { id: scheduleId, destination, headers, body, callerIP } = schedule
    const states: Schedule['lastStates'] = {}
    const onEnd = (messageId: string, state: string) => {
      states[messageId] = state === 'DELIVERED' ? 'SUCCESS' : 'FAIL'
    }
    const messageId = attempt(() =>
      broker.publish(destination, headers, body, { kind: 'scheduled', scheduleId, callerIP, onEnd }),
    )
    if (messageId) states[messageId] = 'IN_PROGRESS'
    schedule.lastTime = clock.now()
    schedule.lastStates = states
    keep(schedule)
  }
}

function attempt(publish: () => { messageId: string }): string | undefined {
  try {
    return publish().messageId
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

function view(schedule: Schedule) {
  const settings = readSettings(schedule.headers)
  return {
    scheduleId: schedule.id,
    cron: schedule.cron,
    destination: schedule.destination,
    createdAt: schedule.createdAt,
    method: settings.method,
    header: listed(settings.header),
    body: schedule.body.toString(),
    retries: settings.maxRetries,
    delay: settings.delay === undefined ? undefined : settings.delay / 1_000,
    callerIp: schedule.callerIP,
    isPaused: schedule.isPaused,
    lastScheduleTime: schedule.lastTime,
    nextScheduleTime: schedule.nextTime,
    lastScheduleStates: schedule.lastStates,
  }
}

function checkCron(cron: string | undefined, now: number): asserts cron is string {
  if (!cron) throw new Refusal(400, 'Upstash-Cron is missing')
  try {
    nextTick(cron, now)
  } catch (error) {
    throw new Refusal(400, `Upstash-Cron is "${cron}": ${(error as Error).message}`)
  }
}

const toJournal = ({ timer: _, nextTime: __, body, ...facts }: Schedule) => ({
  ...facts,
  body: body.toString('base64'),
})

function fromJournal(value: unknown): Schedule {
  const kept = value as Facts & { body: string }
  return { ...kept, body: Buffer.from(kept.body, 'base64') }
}
