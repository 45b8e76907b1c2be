import { logCursorAt } from '../../core/schemas/values.ts'
import { queryWith, useLook, type Way } from '../look.ts'
import { type Asked, page } from '../page.ts'
import { Hidden } from '../parts/act.tsx'
import { Further } from '../parts/further.tsx'
import { Card, Choice, Empty, Head, Link, To } from '../parts/layout.tsx'
import { Listen, LOG } from '../parts/listen.tsx'
import { isBad, type LogEntry, LogLines, Tail, WholeEntry, whenOf } from '../parts/log.tsx'
import { First } from '../parts/snippet.tsx'
import { Legend } from '../parts/spark.tsx'
import { momentOf } from '../words/filter.ts'
import { rowsText, type Searched } from '../words/further.ts'
import { many, moment, round, title } from '../words/text.ts'

const levels = ['info', 'warn', 'error'] as const
const MOST = 100

/** A cursor is the id of the last entry, and an id begins with a time. */
const searchedTo = (cursor: string | null, zone: string): Searched | undefined =>
  cursor === null ? undefined : { where: `the entries since ${moment(Number.parseInt(cursor, 10), zone)}` }

const sifts = [
  { name: 'class', label: 'Class of the job', placeholder: 'Class' },
  { name: 'q', label: 'Text of an entry', placeholder: 'Text' },
  { name: 'since', label: 'Since: 6h, or a time', placeholder: 'Since, as 6h' },
]

function Sifts({ query }: { query: URLSearchParams }) {
  const { base } = useLook()
  return (
    <form class="sifts" action={`${base}/log`}>
      <Hidden of={[...query].filter(([name]) => !['q', 'class', 'since', 'cursor', 'entry'].includes(name))} />
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

const [SLICES, WIDTH, HEIGHT, LEAST] = [40, 400, 48, 1.5]
const STEP = WIDTH / SLICES

const TONES = [
  ['failed', 'error'],
  ['suspended', 'warn'],
  ['queued', 'info'],
] as const

const toneOf = ({ level }: LogEntry) => (isBad(level) ? 'failed' : level === 'warn' ? 'suspended' : 'queued')

function Bar({ of, x, scale }: { of: LogEntry[]; x: number; scale: number }) {
  let y = HEIGHT
  return TONES.map(([tone]) => {
    const n = of.filter((entry) => toneOf(entry) === tone).length
    const height = n && Math.max(LEAST, n * scale)
    y -= height
    return n > 0 && <rect class={`f-${tone}`} x={x} y={round(y)} width={STEP * 0.75} height={round(height)} />
  })
}

function Histogram({ entries, to }: { entries: LogEntry[]; to: Way }) {
  const look = useLook()
  const times = entries.map(({ at }) => at)
  const [from, last] = [Math.min(...times), Math.max(...times)]
  const span = Math.ceil((last + 1 - from) / SLICES)
  const slices = [...Map.groupBy(entries, ({ at }) => Math.floor((at - from) / span))]
  const scale = (HEIGHT - 2 * LEAST) / Math.max(...slices.map(([, of]) => of.length))
  function rangeText(of: LogEntry[], from: number, to: number): string {
    const bad = of.filter(({ level }) => isBad(level)).length
    return `${many(of.length, 'entry', 'entries')} from ${whenOf(from, look)} to ${whenOf(to, look)}; ${many(bad, 'error')}`
  }
  const range = rangeText(entries, from, last)
  return (
    <nav class="plot" aria-label={range}>
      <p class="row">
        <span class="note grow">{range.replace(/.*; /, '')}</span>
        <Legend of={TONES} />
      </p>
      <svg height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none">
        <title>Entries by time and level</title>
        {slices.map(([i, of]) => {
          const at = from + i * span
          const title = rangeText(of, at, at + span - 1)
          return (
            <To to={to({ since: new Date(at).toISOString(), cursor: logCursorAt(of[0]!.id) })} label={title}>
              <title>{title}</title>
              <rect class="hit" x={STEP * i} width={STEP} height={HEIGHT} />
              <Bar of={of} x={STEP * i} scale={scale} />
            </To>
          )
        })}
      </svg>
      <p class="row note">
        <span class="grow">{whenOf(from, look)}</span> {whenOf(last, look)}
      </p>
    </nav>
  )
}

async function load({ engine, query, look }: Asked) {
  const [level, job, name, text, since, entry] = ['level', 'job', 'class', 'q', 'since', 'entry'].map(
    (name) => query.get(name) || undefined,
  )
  const cursor = (entry && logCursorAt(entry)) || query.get('cursor') || undefined
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
}

export const log = page({
  path: '/log',
  nav: 'log',
  every: 2_000,
  load,
  View: ({ data: { entries, cursor, level, job, tail, whole, noMoment }, look: { zone }, query }) => {
    const to = (changes: Record<string, string | undefined>) =>
      `/log${queryWith(query, { cursor: undefined, entry: undefined, ...changes })}`
    return (
      <>
        <Head
          title="Log"
          note={`${rowsText(entries.length, cursor, 'entry', 'entries')}${job ? ` of job ${job}` : ''}`}
        >
          <Tail on={tail} to={to({ tail: tail ? undefined : '1' })} />
          <Choice
            label="Level"
            options={[
              { text: 'All', to: to({ level: undefined }), on: !level },
              ...levels.map((one) => ({ text: title(one), to: to({ level: one }), on: one === level })),
            ]}
          />
          <Sifts query={query} />
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
          {entries.length > 0 && <Histogram entries={entries} to={to} />}
          {entries.length === 0 && query.size === 0 ? (
            <First of="log" />
          ) : (
            <LogLines entries={entries} of={job} withJobs isSearching={cursor !== null} />
          )}
          <ol class="log" id="older" data-older data-island />
          <Further
            cursor={cursor}
            changes={{ entry: undefined }}
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
