import type { PastRun } from '../../../core/run.ts'
import type { FlowEvent } from '../../../engine/engine.ts'
import type { BoardNow } from '../../words/replay.ts'
import { base } from '../app/page.ts'

const [PAGE, MOST] = [1_000, 5_000]

type Told = { events: RawEvent[]; cursor: string | null }
type RawRun = Omit<PastRun, 'startedAt' | 'endedAt'> & { startedAt: string; endedAt: string }
type RawEvent = Omit<FlowEvent, 'at' | 'moves'> & {
  at: string
  moves: (Omit<FlowEvent['moves'][number], 'run'> & { run: RawRun | null })[]
}

export type Version = { at: number; by: string | null; graph: BoardNow['graph'] }

async function get<Answer>(path: string): Promise<Answer> {
  const answer = await fetch(`${base}/v1/flows/${path}`, { headers: { accept: 'application/json' } })
  if (!answer.ok) throw new Error(`${answer.status}`)
  return answer.json() as Promise<Answer>
}

const runOf = (run: RawRun | null): PastRun | null =>
  run && { ...run, startedAt: Date.parse(run.startedAt), endedAt: Date.parse(run.endedAt) }

const eventOf = ({ at, moves, ...rest }: RawEvent): FlowEvent => ({
  ...rest,
  at: Date.parse(at),
  moves: moves.map((move) => ({ ...move, run: runOf(move.run) })),
})

export async function versionsOf(job: number): Promise<Version[]> {
  const { versions } = await get<{ versions: { at: string | null; by: string | null; graph: Version['graph'] }[] }>(
    `${job}/history`,
  )
  return versions.map(({ at, by, graph }) => ({ at: at === null ? 0 : Date.parse(at), by, graph }))
}

export function createEvents(job: number) {
  let events: FlowEvent[] = []
  let isAll = true

  async function begin(): Promise<void> {
    let before = ''
    do {
      const { events: page, cursor } = await get<Told>(`${job}/record?limit=${PAGE}${before}`)
      events = [...page.map(eventOf), ...events]
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
      const { events: page } = await get<Told>(`${job}/record?limit=${PAGE}&after=${last}`)
      events = [...events, ...page.map(eventOf)].slice(-MOST)
    },
  }
}
