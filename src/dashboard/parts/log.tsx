// Lines of the log: the moment, the level, what was said and what goes with it.

import { decodeValue, type Encoded } from '../../core/codec/value.ts'
import { useLook } from '../look.ts'
import { plain } from '../words/json.ts'
import { clock, dayOf, hourOf, moment } from '../words/time.ts'
import { Icon } from './icon.tsx'
import { Empty, JobId, To } from './layout.tsx'

export type LogEntry = { id: string; at: number; job: number | null; level: string; entry: Encoded }

const MOST = 400
const DAY = 86_400_000

/** The words of an entry, and what else is in it, as text. */
export function linesOf(entry: Encoded): { text: string; rest: string } {
  const opened = decodeValue(entry)
  if (typeof opened !== 'object' || opened === null || Array.isArray(opened))
    return { text: plain(String(opened)).slice(0, MOST), rest: '' }
  const { level: _, ...members } = opened as Record<string, unknown>
  const { [typeof members.message === 'string' ? 'message' : 'error']: message, ...rest } = members
  const more = Object.keys(rest).length > 0 ? JSON.stringify(rest) : ''
  const shown = typeof message === 'string' ? message : ''
  return { text: plain(shown.slice(0, MOST)), rest: plain((more ?? '').slice(0, MOST)) }
}

/** Switches the tail on and off: what is written is shown at once. */
export function Tail({ on, to }: { on: boolean; to: string }) {
  return (
    <To kind={`btn small${on ? ' on' : ''}`} to={to} label={on ? 'Stop the tail' : 'Tail the log'}>
      <Icon name={on ? 'pause' : 'play'} size={12} />
      Tail
    </To>
  )
}

const isBad = (level: string): boolean => level === 'error' || level === 'fatal'

export function LogLines({ entries, withJobs }: { entries: readonly LogEntry[]; withJobs?: boolean }) {
  const { now, zone } = useLook()
  if (entries.length === 0) return <Empty>Nothing was written to the log.</Empty>
  return (
    <ol class="log">
      {entries.map(({ id, at, job, level, entry }) => {
        const { text, rest } = linesOf(entry)
        const isOld = now - at > DAY
        return (
          <li id={`e${id}`}>
            <time datetime={new Date(at).toISOString()} title={moment(at, zone)}>
              {isOld
                ? `${dayOf(at, zone)} ${hourOf(at, zone)}`
                : `${clock(at, zone)}.${String(at % 1000).padStart(3, '0')}`}
            </time>
            <span class={isBad(level) ? 'lv w' : 'lv'}>{level}</span>
            <span class="clip">
              {withJobs && job !== null && (
                <>
                  <JobId id={job} />{' '}
                </>
              )}
              {text} {rest && <span class="dimmer">{rest}</span>}
            </span>
          </li>
        )
      })}
    </ol>
  )
}
