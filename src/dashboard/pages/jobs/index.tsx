import { SidejobError } from '../../../core/errors.ts'
import { type Status, statuses } from '../../../core/job.ts'
import type { JobFilter, JobRow } from '../../../engine/engine.ts'
import { queryWith } from '../../look.ts'
import { type Asked, Elsewhere, page } from '../../page.ts'
import { LinkButton } from '../../parts/act.tsx'
import { Card, Head } from '../../parts/layout.tsx'
import { First } from '../../parts/snippet.tsx'
import { type Step, searchRows } from '../../search-on.ts'
import { type Counted, countsOf, sum, sumOf } from '../../words/counts.ts'
import { isSorted, stretchIn, tokensOf, typed } from '../../words/filter.ts'
import { rowsText } from '../../words/further.ts'
import { pausedNames, runsIn } from '../../words/queue.ts'
import { atLeast, count, cut, many, title } from '../../words/text.ts'
import { acts } from './acts.ts'
import { Bulk, BulkProgress } from './bulk.tsx'
import { ByClass, byClass, dayIn, Switch } from './by-class.tsx'
import { columnsIn, pathsIn } from './columns.tsx'
import { Counts, classesToday, Filter, filterFor } from './filter.tsx'
import { Kinds, kindsOf, knownDeploy } from './kinds.tsx'
import { muteActs } from './mutes.tsx'
import { isPast, Past, pastJobs } from './past.tsx'
import { Rows } from './rows.tsx'
import { Views, viewActs, viewUrl } from './views.tsx'

const ROWS = 50
const SHARED = 60_000

const NO_JOBS: Step<JobRow> = { rows: [], cursor: null }

const viewsOf = ({ engine, cache }: Asked) => cache.get('views', SHARED, () => engine.views.list())

async function named(asked: Asked): Promise<void> {
  const name = asked.query.get('view')
  if (name === null) return
  const to = viewUrl(name, (await viewsOf(asked)).views)
  if (!to) throw new SidejobError('NOT_FOUND', `there is no view ${cut(name, 60)}`)
  throw new Elsewhere(to)
}

function settle({ query, look }: Asked): void {
  const text = query.get('q')
  if (text === null && query.get('columns') !== '') return
  const { job, ...found } = typed(text ?? '')
  if (job) throw new Elsewhere(`/jobs/${job}`)
  const search = look.here.slice(look.here.indexOf('?'))
  throw new Elsewhere(
    `/jobs${queryWith(search, { ...found, q: undefined, cursor: undefined, columns: query.get('columns') ?? undefined })}`,
  )
}

function chosen(query: URLSearchParams): { queue?: string; class?: string } {
  const [queue, name] = [query.get('queue'), query.get('class')]
  return { ...(queue ? { queue } : {}), ...(name ? { class: name } : {}) }
}

const isOf = (run: { queue: string; class: string }, query: URLSearchParams): boolean => {
  const { queue = run.queue, class: name = run.class } = chosen(query)
  return run.queue === queue && run.class === name
}

function within({ query, look }: Asked, step: Step<JobRow>): Step<JobRow> {
  const stretch = stretchIn(query, look.now)
  if (!stretch) return step
  const { rows, cursor, newest } = step
  const { from, to } = stretch
  const isBelow = isSorted(query) && rows.some(({ endedAt }) => endedAt !== null && endedAt < from)
  const fit = rows.filter(({ endedAt }) => endedAt !== null && endedAt >= from && endedAt < to)
  return { rows: fit, cursor: isBelow ? null : cursor, newest }
}

const FEW = 200

const completionsOf = (jobs: readonly JobRow[], names: readonly string[]): string[] => {
  const labels = jobs.flatMap((job) => Object.entries(job.labels).map(([name, value]) => `labels.${name}:${value}`))
  const groups = jobs.flatMap(({ group }) => (group === null ? [] : [`group:${group}`]))
  const all = new Set([...statuses, ...names, ...groups, ...labels])
  // Omits texts with spaces, because a space separates filters.
  return [...all].filter((text) => !/\s/.test(text)).slice(0, FEW)
}

function found(asked: Asked, filter: JobFilter) {
  const [since, until, ended] = ['since', 'until', 'ended'].map((name) => asked.query.get(name))
  const name = JSON.stringify({ ...filter, since, until, ended })
  return searchRows(asked, { ...filter, limit: ROWS }, name, (step) => within(asked, step))
}

type JobsData = Awaited<ReturnType<typeof load>>

async function load(asked: Asked) {
  settle(asked)
  await named(asked)
  const { engine, query } = asked
  const bulk = query.get('bulk')
  const isByClass = query.get('by') === 'class'
  const isOfHistory = isPast(query)
  const isOfKinds =
    !isByClass &&
    !isOfHistory &&
    query.get('status') === 'failed' &&
    !['error', 'group', 'ended'].some((name) => query.has(name))
  const filter = await filterFor(asked)
  const [listed, { queues, processed }, { views }, kinds, doing, classes, past, today, atWork] = await Promise.all([
    isByClass || isOfHistory ? NO_JOBS : found(asked, { ...filter, paths: pathsIn(columnsIn(query)) }),
    engine.stats.totals(),
    viewsOf(asked),
    isOfKinds ? kindsOf(asked, chosen(query)) : undefined,
    bulk ? engine.jobs.get(bulk).catch(() => undefined) : undefined,
    isByClass ? byClass(asked, { ...chosen(query), day: dayIn(query) }) : undefined,
    isOfHistory ? pastJobs(asked) : undefined,
    classesToday(asked),
    isByClass ? engine.processes.list() : undefined,
  ])
  return {
    ...listed,
    counts: countsOf(queues, query.get('queue')),
    processed,
    views,
    completions: completionsOf(listed.rows, [
      ...queues.map(({ name }) => `queue:${name}`),
      ...today.classes.flatMap(({ class: name }) => (name === null ? [] : [`class:${name}`])),
    ]),
    kinds,
    classes,
    runs: atWork ? runsIn(atWork).filter((run) => isOf(run, query)) : [],
    moreRuns: atWork?.more ?? false,
    past,
    bulk: doing,
    deploy: await knownDeploy(asked),
    paused: pausedNames({ queues }),
  }
}

const nameOf = (query: URLSearchParams, error: string): string => {
  const values = tokensOf(query).map(({ name, value }) =>
    name === 'status' ? title(value) : name === 'error' ? error : value,
  )
  return cut([...(isPast(query) ? ['History'] : []), ...values].join(', '), 60) || 'All'
}

const countsIn = (jobs: readonly { status: Status }[]): Counted =>
  Object.fromEntries(statuses.map((status) => [status, jobs.filter((one) => one.status === status).length]))

function selectedIn(given: URLSearchParams): { selected: ReadonlySet<string>; query: URLSearchParams } {
  const query = new URLSearchParams(given)
  query.delete('sel')
  return { selected: new Set(given.get('sel')?.split(',')), query }
}

const isCounted = ({ past }: JobsData, query: URLSearchParams): boolean =>
  !past && tokensOf(query).every(({ name }) => name === 'status' || name === 'queue')

function matchesIn(data: JobsData, query: URLSearchParams): number | undefined {
  if (!isCounted(data, query)) return data.total
  const { counts } = data
  const statuses = query.get('status')?.split(',') as Status[] | undefined
  return statuses ? sum(statuses, (one) => counts[one] ?? 0) : sumOf(counts)
}

const listedIn = ({ past, rows, cursor }: JobsData) => past?.found ?? { jobs: rows, cursor }

function noteOf(data: JobsData, query: URLSearchParams): string | undefined {
  const { past, classes } = data
  if (past && !past.found) return undefined
  if (classes)
    return `${many(classes.classes.length, 'class', 'classes')}${classes.more ? ' of the first 50 queues' : ''}`
  const status = query.get('status')
  const kind = status && !status.includes(',') ? `${status} job` : 'job'
  const matches = matchesIn(data, query)
  const { jobs, cursor } = listedIn(data)
  return matches === undefined ? rowsText(jobs.length, cursor, kind) : many(matches, kind)
}

type PartProps = { data: JobsData; query: URLSearchParams }

function Filters({ data, query }: PartProps) {
  const { jobs, cursor } = listedIn(data)
  const isWhole = !data.classes && cursor === null && !query.has('status') && !query.has('cursor')
  const counts = isCounted(data, query) ? data.counts : isWhole ? countsIn(jobs) : undefined
  return (
    <>
      <Views query={query} shared={data.views} deploy={data.deploy} />
      <Filter tokens={tokensOf(query)} query={query} completions={data.completions} error={data.rows[0]?.message} />
      <Counts counts={counts} query={query} />
    </>
  )
}

function List({ data, query, selected }: PartProps & { selected: ReadonlySet<string> }) {
  const { past, classes, rows, cursor, counts } = data
  if (past) return <Past data={past} query={query} />
  if (classes) return <ByClass data={classes} runs={data.runs} moreRuns={data.moreRuns} query={query} />
  const matches = matchesIn(data, query)
  const total = matches === undefined ? atLeast(rows.length, cursor !== null) : count(matches)
  return (
    <>
      <Card kind="list">
        <Rows
          {...data}
          query={query}
          selected={selected}
          jobs={rows}
          limit={ROWS}
          hasJobs={sumOf(counts) > 0}
          total={query.has('cursor') ? '' : total}
        />
      </Card>
      <Bulk query={query} />
    </>
  )
}

function View({ data, query: given }: PartProps) {
  const { selected, query } = selectedIn(given)
  const { past, bulk, kinds } = data
  const make = (
    <LinkButton to="/jobs/new" scope="write" icon="plus" kind="primary" hotkey="c">
      New job
    </LinkButton>
  )
  if (sumOf(data.counts) + data.processed === 0 && query.size === 0)
    return (
      <>
        <Head title="Jobs">{make}</Head>
        <Card>
          <First of="jobs" />
        </Card>
      </>
    )
  return (
    <>
      <Head title="Jobs" note={noteOf(data, query)}>
        <Switch query={query} />
        {make}
      </Head>
      {(!past || past.found) && <Filters data={data} query={query} />}
      {bulk && <BulkProgress job={bulk} />}
      {kinds && <Kinds data={kinds} muted={query.get('muted') === 'true'} all={query.get('kinds') === 'all'} />}
      <List data={data} query={query} selected={selected} />
    </>
  )
}

export const jobs = page({
  path: '/jobs',
  nav: 'jobs',
  every: 2_000,
  load,
  crumbs: ({ rows }, { here }) => {
    const query = new URLSearchParams(here.slice(here.indexOf('?') + 1 || here.length))
    return [{ name: nameOf(query, rows[0]?.message ?? 'one kind of error') }]
  },
  View,
  acts: { ...acts, ...viewActs, ...muteActs },
})
