// Repeating jobs: their next times, paused, resumed, edited, ended.

import type { Wire } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import { nextSlot, nextTimes, type Repeat } from '../../core/repeat.ts'
import { type Document, statusOf } from '../../redis/document.ts'
import type { Parts } from '../context.ts'
import type { Engine, ScheduleView } from '../engine.ts'

/** The slot of a schedule that is paused: the last moment there is. */
const NEVER = 8_640_000_000_000_000

const PREVIEW = 5

function scheduleOf(id: number, doc: Document): ScheduleView {
  const repeat = JSON.parse(doc.rp!) as Repeat
  const first = Number(doc.ns)
  const next = doc.rz || !doc.ns ? [] : [first, ...nextTimes(repeat, first, PREVIEW - 1)]
  return {
    job: id,
    queue: doc.q!,
    class: doc.c!,
    status: statusOf(doc),
    repeat: doc.rp as Wire,
    paused: doc.rz !== undefined,
    next,
  }
}

export function createSchedules(
  { store, change, now }: Parts,
  { patch }: Pick<Engine, 'patch'>,
): Pick<Engine, 'schedules' | 'schedule' | 'patchSchedule' | 'endSchedule' | 'pauseSchedule' | 'resumeSchedule'> {
  async function schedule(job: string): Promise<ScheduleView> {
    const { id, document } = await store.inspect(job)
    if (!document.rp) throw new SidejobError('NOT_FOUND', `job ${id} does not repeat`)
    return scheduleOf(id, document)
  }

  return {
    async schedules({ limit = 50, cursor }) {
      const page = await store.list({ mode: 'repeats', before: cursor, limit })
      return { schedules: page.jobs.map(({ id, document }) => scheduleOf(id, document)), cursor: page.cursor }
    },

    schedule,

    async patchSchedule(job, changes, call) {
      await patch(job, changes, call)
      return schedule(job)
    },

    async endSchedule(job, call) {
      await schedule(job)
      await patch(job, { repeat: null }, call)
    },

    async pauseSchedule(job, call) {
      await schedule(job)
      await change(job, [['patch', '2', 'ns', String(NEVER), 'rz', '1']], call)
      return schedule(job)
    },

    async resumeSchedule(job, call) {
      const { repeat } = await schedule(job)
      const at = now()
      const next = nextSlot(JSON.parse(repeat) as Repeat, { scheduled: at, started: at, finished: at }, at)
      await change(job, [['patch', '2', 'ns', String(next), 'rz', '']], call)
      return schedule(job)
    },
  }
}
