import { logCursor } from '../../core/schemas/values.ts'
import { queryWith, useLook } from '../look.ts'
import { page } from '../page.ts'
import { Further } from '../parts/further.tsx'
import { Card, Choice, Empty, Head, Link } from '../parts/layout.tsx'
import { Listen, LOG } from '../parts/listen.tsx'
import { type LogEntry, LogLines, Tail, WholeEntry } from '../parts/log.tsx'
import { momentOf } from '../words/filter.ts'
import { rowsText, type Searched } from '../words/further.ts'
import { moment } from '../words/text.ts'

type LogData = {
  entries: LogEntry[]
  cursor: string | null
  level?: string
  job?: string
  tail: boolean
  whole?: LogEntry | null
  noMoment?: string
}

const levels = ['info', 'warn', 'error'] as const
const MOST = 100

function cursorAt(entry: string): string | undefined {
  if (!logCursor.safeParse(entry).success) return undefined
  const [ms, n] = entry.split('-') as [string, string]
  return `${ms}-${BigInt(n) + 1n}`
}

/** A cursor is the id of the last entry, which begins with its time. */
const searchedTo = (cursor: string | null, zone: string): Searched | undefined =>
  cursor === null ? undefined : { where: `the entries since ${moment(Number.parseInt(cursor, 10), zone)}` }

type Sift = { name: string; label: string; placeholder: string }

const sifts: readonly Sift[] = [
  { name: 'class', label: 'Class of the job', placeholder: 'Class' },
  { name: 'q', label: 'Text of an entry', placeholder: 'Text' },
  { name: 'since', label: 'Since: 6h, or a time', placeholder: 'Since 6h' },
]

function Sifts({ query }: { query: URLSearchParams }) {
  const { base } = useLook()
  return (
    <form class="sifts" action={`${base}/log`}>
      {[...query].map(([name, value]) =>
        ['q', 'class', 'since', 'cursor', 'entry'].includes(name) ? null : (
          <input type="hidden" name={name} value={value} />
        ),
      )}
      {sifts.map(({ name, label, placeholder }) => (
        <label class="filter small">
          <input
            name={name}
            type="search"
            aria-label={label}
            title={label}
            placeholder={placeholder}
            value={query.get(name) ?? ''}
            maxlength={200}
          />
        </label>
      ))}
      <button class="vh" type="submit" tabindex={-1}>
        Filter
      </button>
    </form>
  )
}

export const log = page<LogData>({
  path: '/log',
  nav: 'log',
  every: 2_000,
  async load({ engine, query, look }) {
    const [level, job, name, text, since, entry] = ['level', 'job', 'class', 'q', 'since', 'entry'].map(
      (name) => query.get(name) || undefined,
    )
    const cursor = (entry && cursorAt(entry)) || query.get('cursor') || undefined
    const from = since === undefined ? undefined : momentOf(since, look)
    const { entries, cursor: next } = await engine.log.read({
      limit: MOST,
      level,
      job,
      class: name,
      text: text?.slice(0, 200),
      cursor,
      since: from,
    })
    return {
      entries,
      cursor: next,
      level,
      job,
      tail: query.has('tail') && !cursor,
      whole: entry ? (entries.find(({ id }) => id === entry) ?? null) : undefined,
      noMoment: from === undefined ? since : undefined,
    }
  },
  title: () => 'Log',
  View: ({ data: { entries, cursor, level, job, tail, whole, noMoment }, look: { zone }, query }) => {
    const to = (changes: Record<string, string | undefined>) =>
      `/log${queryWith(query.toString(), { cursor: undefined, entry: undefined, ...changes })}`
    return (
      <>
        <Head
          title="Log"
          note={`${rowsText(entries.length, cursor, 'entry', 'entries')}${job ? ` of job ${job}` : ''}`}
        >
          <Tail on={tail} to={to({ tail: tail ? undefined : '1' })} />
          <Sifts query={query} />
          <Choice
            label="Level"
            options={[
              { text: 'All', to: to({ level: undefined }), on: !level },
              ...levels.map((one) => ({ text: one, to: to({ level: one }), on: one === level })),
            ]}
          />
        </Head>
        {tail && <Listen to={[LOG]} />}
        {noMoment !== undefined && (
          <p class="note">{`since: expected a duration such as 6h, or a time, got “${noMoment.slice(0, 60)}”`}</p>
        )}
        {whole && <WholeEntry entry={whole} />}
        {whole === null && (
          <Card kind="change">
            <Empty act={<Link to={to({})}>Show the newest</Link>}>
              The linked entry is no longer stored. Earlier entries are shown below.
            </Empty>
          </Card>
        )}
        <Card>
          <LogLines entries={entries} of={job} withJobs isSearching={cursor !== null} />
          <ol class="log" id="older" data-older data-island />
          <Further
            to={cursor === null ? undefined : to({ cursor })}
            more="older entries"
            rows={entries.length}
            limit={MOST}
            searched={searchedTo(cursor, zone)}
          />
        </Card>
      </>
    )
  },
})
