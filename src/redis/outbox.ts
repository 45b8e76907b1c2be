import type { Status } from '../core/job.ts'
import type { PastRun } from '../core/run.ts'
import { sequencesFrom } from './claimed.ts'
import { PIECE } from './packed-jobs.ts'
import { type JobRecord, pastRunOf, recordOf } from './record.ts'

export type NotedEnd = { id: number; record: JobRecord; status: Status; value: string }
export type NotedRun = { id: number; record: JobRecord; run: PastRun }
export type Noted = { ends: NotedEnd[]; runs: NotedRun[] }

const statuses: Record<string, Status> = { c: 'completed', f: 'failed', T: 'terminated' }

/** Packed jobs (lib/runtime/pieces.lua) complete without a result. */
function endsOfPiece(piece: string, text: string): NotedEnd[] {
  const [mask, first, state, common, list] = text.split('\n') as [string, string, string, string, string]
  const args = JSON.parse(list) as string[]
  const sequenceOf = sequencesFrom(first)
  return [...mask].flatMap((is, place) => {
    if (is !== '1') return []
    const id = Number(piece) * PIECE + place
    const stored = JSON.parse(`{${state.replaceAll('@', String(id))}${common}}`) as Record<string, unknown>
    const own = args[place] ? { a: args[place] } : {}
    const record = recordOf({ ...stored, n: sequenceOf(place), ...own })
    return [{ id, record, status: 'completed', value: 'null' }]
  })
}

/** An unreadable line must not stop later lines. */
export function notedIn(texts: readonly string[], fault: (line: string) => void): Noted {
  const noted: Noted = { ends: [], runs: [] }
  for (const line of texts.flatMap((text) => text.split('\n').filter(Boolean))) {
    try {
      const [kind, id, of, value] = JSON.parse(line) as [string, string, Record<string, unknown> | string, string]
      if (kind === 'p') noted.ends.push(...endsOfPiece(id, of as string))
      else {
        const record = recordOf(of as Record<string, unknown>)
        if (kind === 'r') noted.runs.push({ id: Number(id), record, run: pastRunOf(value) })
        else noted.ends.push({ id: Number(id), record, status: statuses[record.place!]!, value })
      }
    } catch {
      fault(line)
    }
  }
  return noted
}
