import type { FlowEvent } from '../../../engine/engine.ts'
import type { BoardNow } from '../../words/replay.ts'
import { base } from '../app/page.ts'

const [PAGE, MOST] = [1_000, 5_000]
const TIMES = ['at', 'startedAt', 'endedAt']

type EventsAnswer = { events: FlowEvent[]; cursor: string | null }

export type Version = { at: number; by: string | null; graph: BoardNow['graph'] }

async function get<Answer>(path: string): Promise<Answer> {
  const answer = await fetch(`${base}/v1/flows/${path}`, { headers: { accept: 'application/json' } })
  if (!answer.ok) throw new Error(`${answer.status}`)
  const isTime = (name: string, value: unknown) => typeof value === 'string' && TIMES.includes(name)
  return JSON.parse(await answer.text(), (name, value) => (isTime(name, value) ? Date.parse(value) : value))
}

export async function versionsOf(job: number): Promise<Version[]> {
  const { versions } = await get<{ versions: Version[] }>(`${job}/history`)
  return versions.map((one) => ({ ...one, at: one.at ?? 0 }))
}

export function createEvents(job: number) {
  let events: FlowEvent[] = []
  let isAll = true

  async function begin(): Promise<void> {
    let before = ''
    do {
      const { events: page, cursor } = await get<EventsAnswer>(`${job}/record?limit=${PAGE}${before}`)
      events = [...page, ...events]
      before = cursor === null ? '' : `&before=${cursor}`
    } while (before && events.length < MOST)
    isAll = before === ''
  }

  return {
    get all(): readonly FlowEvent[] {
      return events
    },
    get isAll(): boolean {
      return isAll
    },
    async more(): Promise<void> {
      const last = events.at(-1)?.id
      if (last === undefined) return begin()
      const { events: page } = await get<EventsAnswer>(`${job}/record?limit=${PAGE}&after=${last}`)
      events = [...events, ...page].slice(-MOST)
    },
  }
}
