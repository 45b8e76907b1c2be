import type { HistoryJob } from '../../../engine/engine.ts'
import type { Engine } from '../../../engine/index.ts'
import { queryWith, useLook } from '../../look.ts'
import type { Asked } from '../../page.ts'
import { Further } from '../../parts/further.tsx'
import { Ago, Card, Link } from '../../parts/layout.tsx'
import { Snippet } from '../../parts/snippet.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { DEPLOY } from '../../words/filter.ts'
import { messageOf } from '../../words/job.ts'
import { textOf } from '../../words/json.ts'
import { pastFilter } from '../../words/past.ts'
import { count, moment, span } from '../../words/text.ts'
import { readDeploys } from './kinds.tsx'
import { columnsWith } from './rows.tsx'

const ROWS = 50
/** Milliseconds between searches of an open page. D1 bills the rows that it reads. */
const FRESH = 30_000

type PastData = { found?: Awaited<ReturnType<Engine['history']['list']>>; days?: number | null }

export const isPast = (query: URLSearchParams): boolean => query.get('in') === 'history'

export async function pastJobs(asked: Asked): Promise<PastData> {
  const { engine, query, look, cache } = asked
  if (!engine.history.isOn) return {}
  const deployedAt = query.get('since') === DEPLOY ? (await readDeploys(asked))[0]?.at : undefined
  const filter = { ...pastFilter(query, { now: look.now, deployedAt }), limit: ROWS }
  const [found, { keptDays: days }] = await Promise.all([
    cache.get(`history ${query}`, FRESH, () => engine.history.list(filter)),
    cache.get('history', FRESH, () => engine.history.status()),
  ])
  return { found, days }
}

const columns: readonly Column<HistoryJob>[] = [
  { head: '-', cell: () => '' },
  ...columnsWith<HistoryJob>(
    ({ error, result }) => (error ? messageOf(error) : result && textOf(result).text),
    'in=history',
  ),
  { head: '#Runs', cell: ({ attempts }) => count(attempts) },
  { head: '#Took', cell: ({ took }) => (took === null ? '–' : span(took)) },
  { head: '#Ended', cell: ({ endedAt }) => <Ago at={endedAt} /> },
]

export function NoHistory() {
  const { tenant } = useLook()
  return (
    <div class="stack">
      <Card title="This deployment has no history">
        <p class="body">
          By default, Redis keeps an ended job for a day, or for 30 days if it failed or can receive input. A history in
          a D1 database keeps it for 90 days.{tenant && ' The operator of the deployment can add one.'}
        </p>
      </Card>
      {!tenant && (
        <Snippet
          title="Add a database to wrangler.toml, then run npx sidejob deploy"
          text={'[[d1_databases]]\nbinding = "HISTORY"'}
        />
      )}
    </div>
  )
}

export function Past({ data: { found, days }, query }: { data: PastData; query: URLSearchParams }) {
  const { zone } = useLook()
  if (!found) return <NoHistory />
  const { jobs, cursor, searchedTo } = found
  const none = (
    <>
      No job that ended{days && ` in the last ${days} days`} matches.{' '}
      <Link to="/jobs?in=history">Show all ended jobs</Link>, or{' '}
      <Link to={`/jobs${queryWith(query, { in: undefined })}`}>search the jobs that Redis still has</Link>.
    </>
  )
  return (
    <Card kind="list">
      <DataTable
        caption="Ended jobs, most recently ended first"
        kind="jobs"
        id="rows"
        grows
        empty={cursor === null && none}
        rows={jobs}
        columns={columns}
        idOf={({ id, endedAt }) => `${id}-${endedAt}`}
      />
      <Further
        cursor={cursor}
        more="older jobs"
        rows={jobs.length}
        limit={ROWS}
        searched={searchedTo === null ? undefined : { where: `the jobs that ended since ${moment(searchedTo, zone)}` }}
      />
    </Card>
  )
}
