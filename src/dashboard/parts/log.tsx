import { maps, parseJson } from '../../core/codec/json.ts'
import { writeJson } from '../../core/codec/json-writer.ts'
import { type Encoded, encodedToJson, raw } from '../../core/codec/value.ts'
import { DAY } from '../../core/units.ts'
import { type Look, useLook } from '../look.ts'
import { textOf } from '../words/json.ts'
import { neighbours } from '../words/neighbours.ts'
import { count, dayAndHour, exactClock, moment, plain, truncated } from '../words/text.ts'
import { CopyButton, LinkButton } from './act.tsx'
import { Card, Empty, JobId, NameLink, To } from './layout.tsx'
import { Json, valueText } from './value-view.tsx'

export type LogEntry = {
  id: string
  at: number
  job: number | null
  class: string | null
  level: string
  entry: Encoded
}

const MOST = 400
const LONGEST = 65_536

export function linesOf(entry: Encoded): { text: string; rest: string } {
  const opened = parseJson(encodedToJson(entry), undefined, { builder: maps, number: (text) => raw(text) })
  if (!(opened instanceof Map)) return { text: valueText(entry, MOST), rest: '' }
  const rest = new Map(opened)
  for (const name of ['level', 'backtrace']) rest.delete(name)
  const name = typeof rest.get('message') === 'string' ? 'message' : 'error'
  const message: unknown = rest.get(name)
  rest.delete(name)
  if (rest.get('reason') === 'other') rest.delete('reason')
  const { text, isCut } = textOf(writeJson(rest), MOST)
  return {
    text: typeof message === 'string' ? plain(truncated(message, MOST)) : '',
    rest: rest.size === 0 ? '' : `${text}${isCut ? '…' : ''}`,
  }
}

const entryPath = (id: string, job?: string): string =>
  `/log?${job ? `job=${encodeURIComponent(job)}&` : ''}entry=${id}`

export const Tail = ({ on, to }: { on: boolean; to: string }) => (
  <LinkButton to={to} icon={on ? 'pause' : 'play'} label={on ? 'Stop the tail' : 'Tail the log'} small>
    Tail
  </LinkButton>
)

export const isBad = (level: string): boolean => level === 'error' || level === 'fatal'

export const whenOf = (at: number, { now, zone }: Pick<Look, 'now' | 'zone'>): string =>
  now - at > DAY ? dayAndHour(at, zone) : exactClock(at, zone)

const FOLDED = 2

type LineProps = { entry: LogEntry; withJobs?: boolean; of?: string }
type LinesProps = {
  entries: readonly LogEntry[]
  withJobs?: boolean
  of?: string
  isSearching?: boolean
}

function Line({ entry: { id, at, job, class: name, level, entry }, withJobs, of }: LineProps) {
  const look = useLook()
  const { text, rest } = linesOf(entry)
  const when = moment(at, look.zone)
  return (
    <li id={`e${id}`}>
      <To to={entryPath(id, of)} label={`Log entry of ${when}`}>
        <time datetime={new Date(at).toISOString()} title={when}>
          {whenOf(at, look)}
        </time>
      </To>
      <span class={isBad(level) ? 'lv w' : 'lv'}>{level}</span>
      <span class="clip">
        {withJobs && job !== null && (
          <>
            <JobId id={job} />{' '}
            {name && (
              <NameLink kind="link said" to={`/log?class=${encodeURIComponent(name)}`} of={name} most={30} />
            )}{' '}
          </>
        )}
        {text} {rest && <span class="dimmer">{rest}</span>}
      </span>
      <CopyButton label="Copy the entry" />
    </li>
  )
}

const Lines = ({ entries, ...more }: LinesProps) => entries.map((entry) => <Line entry={entry} {...more} />)

function Equal({ entries: [first, ...equal], ...more }: LinesProps) {
  const look = useLook()
  if (equal.length < FOLDED) return <Lines entries={[first!, ...equal]} {...more} />
  return (
    <>
      <Line entry={first!} {...more} />
      <li>
        <details>
          <summary>
            {count(equal.length)} more like this, since {whenOf(equal.at(-1)!.at, look)}
          </summary>
          <ol class="log">
            <Lines entries={equal} {...more} />
          </ol>
        </details>
      </li>
    </>
  )
}

const messageOf = ({ level, class: name, entry }: LogEntry): string => `${level} ${name} ${entry}`

/** Log entries of one job stay in their order, so only adjacent equal entries form a group. */
const equalIn = (entries: readonly LogEntry[], of?: string): Iterable<LogEntry[]> =>
  of ? neighbours(entries, messageOf) : Map.groupBy(entries, messageOf).values()

export function LogLines({ entries, isSearching, ...more }: LinesProps) {
  if (entries.length === 0 && !isSearching) return <Empty>No log entries.</Empty>
  return (
    <ol class="log" data-found>
      {[...equalIn(entries, more.of)].map((equal) => (
        <Equal entries={equal} {...more} />
      ))}
    </ol>
  )
}

export function WholeEntry({ entry: { at, job, level, entry } }: { entry: LogEntry }) {
  const { zone } = useLook()
  const when = moment(at, zone)
  const json = encodedToJson(entry)
  return (
    <Card
      title={<time datetime={new Date(at).toISOString()}>{when}</time>}
      tag={level}
      right={
        <>
          {job !== null && <JobId id={job} />}
          <CopyButton text={`${when} ${level} ${json.slice(0, LONGEST)}`} />
        </>
      }
      kind="change"
      id="entry"
    >
      <Json value={entry} />
    </Card>
  )
}
