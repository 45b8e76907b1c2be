import type { Child } from 'hono/jsx'
import { type FaultKind, pageOf } from '../../core/faults.ts'
import { isId } from '../../core/job.ts'
import type { Health, QueueView } from '../../engine/engine.ts'
import { asset as script } from '../built/doctor-js.generated.ts'
import { useLook } from '../look.ts'
import { page } from '../page.ts'
import { Act, LinkButton } from '../parts/act.tsx'
import { Ago, Card, Head, Icon, Link, Shape, StatusText, To } from '../parts/layout.tsx'
import { type Column, DataTable } from '../parts/table.tsx'
import { countsOf, sum, sumOf } from '../words/counts.ts'
import { faultsTitle, lookedAt } from '../words/doctor.ts'
import { faultsIn, foundWords, isSlow, isTickMissing } from '../words/needs.ts'
import { queuePath } from '../words/paths.ts'
import { count, many, span } from '../words/text.ts'

type Fault = { kind: FaultKind; who: string; what: string; remedy: string }
type Problem = NonNullable<Health['problems']>[number]
type DoctorData = {
  health: Health
  examined?: { faults: Fault[]; jobs: number; cursor: string | null }
  total?: number
  lost: number
  unclaimed: QueueView[]
}

const sliceAt = (cursor: string): string => `/doctor?cursor=${encodeURIComponent(cursor)}`

export function Check({ ok, text, children }: { ok: boolean; text: string; children: Child }) {
  return (
    <li>
      {ok ? <Shape status="completed" /> : <Icon name="alert" size={14} kind="failed" />}
      {text}
      <span class="right">{children}</span>
    </li>
  )
}

function Refused({ problem: { message, remedy, inARow } }: { problem: Problem }) {
  return (
    <>
      {message}
      {inARow !== undefined && `, ${count(inARow)} in a row`}
      <span class="sub">{remedy}</span>
    </>
  )
}

function LastTick({ at }: { at: number | null }) {
  if (at === null) return <>none yet: the cron trigger should send one every minute</>
  return (
    <>
      last one <Ago at={at} />
    </>
  )
}

function LastLook({ examined: { at, whole, faults, cursor } }: { examined: NonNullable<Health['examined']> }) {
  return (
    <Check ok={cursor === null} text="Jobs">
      {whole ? 'all checked' : 'some checked'}, <Ago at={at} />:{' '}
      {cursor === null ? (
        'no faults'
      ) : (
        <Link to={sliceAt(cursor)}>{`${many(faultsIn(faults), 'fault')}, at ${foundWords(faults)}`}</Link>
      )}
    </Check>
  )
}

function Runs({ lost, unclaimed }: Pick<DoctorData, 'lost' | 'unclaimed'>) {
  return (
    <>
      <Check ok={lost === 0} text="Runs">
        {lost === 0 ? (
          'none lost in the last hour'
        ) : (
          <Link to="/log?q=run+lost&since=1h">{`${many(lost, 'run')} lost in the last hour`}</Link>
        )}
      </Check>
      {unclaimed.length === 0 && (
        <Check ok text="Pull workers">
          no job has waited for one for over a minute
        </Check>
      )}
      {unclaimed.map(({ name, counts: { pull } }) => (
        <Check ok={false} text="Pull workers">
          {many(pull, 'job waits', 'jobs wait')} for one in queue{' '}
          <To kind="link said" to={queuePath(name)}>
            {name}
          </To>
        </Check>
      ))}
    </>
  )
}

function What({ data }: { data: DoctorData }) {
  const { health } = data
  const { now } = useLook()
  const { redis, ms, tickAt, bellAt, version, problems = [], restored, examined } = health
  const bells = problems.find(({ of }) => of === 'qstash')
  const state = problems.find(({ of }) => of === 'redis')
  const unreadable = problems.find(({ of }) => of === 'data')
  return (
    <Card title="Status" right={`version ${version}`}>
      <ul class="checks">
        <Check ok={redis && !state} text="Redis">
          {state ? <Refused problem={state} /> : ms === undefined ? 'does not respond' : `responds in ${span(ms)}`}
        </Check>
        <Check ok={!bells} text="Bells, which wake the lanes">
          {bells ? <Refused problem={bells} /> : 'QStash accepts them'}
          {bellAt && (
            <>
              ; last one <Ago at={bellAt} />
            </>
          )}
        </Check>
        {tickAt !== undefined && (
          <Check ok={!isTickMissing(tickAt, now)} text="Tick, which wakes due jobs">
            <LastTick at={tickAt} />
          </Check>
        )}
        <Check ok={!restored} text="Data, after each restart of Redis">
          {restored ? (
            <>
              Redis lost recent data <Ago at={restored.noticedAt} />: jobs {restored.lost.from} to {restored.lost.to}{' '}
              are lost
            </>
          ) : (
            'no loss detected'
          )}
        </Check>
        {unreadable && (
          <Check ok={false} text="Records">
            <Refused problem={unreadable} />
          </Check>
        )}
        <Runs lost={data.lost} unclaimed={data.unclaimed} />
        {examined && <LastLook examined={examined} />}
      </ul>
      <p class="note foot">“Check all jobs” compares every job with the indexes. It changes nothing.</p>
    </Card>
  )
}

const faultColumns: readonly Column<Fault>[] = [
  { head: 'Kind', cell: ({ kind }) => <StatusText status="failed">{kind}</StatusText> },
  {
    head: 'At',
    kind: 'mono',
    cell: ({ kind, who }) => <To to={pageOf({ kind, who })}>{isId(who) ? `#${who}` : who}</To>,
  },
  {
    head: 'Problem',
    kind: 'fill',
    cell: ({ what, remedy }) => (
      <>
        {what} <span class="dim">{remedy}</span>
      </>
    ),
  },
]

const textOf = (faults: readonly Fault[]): string =>
  faults.map(({ kind, who, what }) => `${kind} ${who}: ${what}`).join('\n')

function Slices({ jobs, total, cursor }: { jobs: number; total: number; cursor: string | null }) {
  return (
    <div class="foot row" id="slices" data-next={cursor ?? ''} data-jobs={jobs} data-total={total}>
      <progress
        max={Math.max(1, total)}
        value={cursor ? Math.min(jobs, total) : Math.max(1, total)}
        aria-label="Checked"
      />
      <span class="word" aria-live="polite">
        {lookedAt(jobs, total, !cursor)}
      </span>
      {cursor && (
        <LinkButton to={sliceAt(cursor)} small>
          Check the next jobs
        </LinkButton>
      )}
    </div>
  )
}

function Examined({ data }: { data: Required<Pick<DoctorData, 'examined' | 'total'>> }) {
  const { faults, jobs, cursor } = data.examined
  return (
    <Card title={faultsTitle(faults.length, jobs)} id="examined">
      <Slices jobs={jobs} total={data.total} cursor={cursor} />
      <DataTable caption="Faults" rows={faults} columns={faultColumns} isPlain id="faults" />
      <div class="foot" id="mend" hidden={faults.length === 0}>
        <span class="row">
          <Act act="repair" scope="admin" small>
            Repair
          </Act>
          <button class="btn small" type="button" data-copy={textOf(faults)}>
            Copy as text
          </button>
        </span>
      </div>
    </Card>
  )
}

function noteOf({ health, lost, unclaimed }: Pick<DoctorData, 'health' | 'lost' | 'unclaimed'>): string {
  if (!health.ok) return 'a service does not respond'
  return lost > 0 || unclaimed.length > 0 ? 'services are up, but some runs need attention' : 'all services are up'
}

const HOUR = 3_600_000

const MENDED = 20

export const doctor = page<DoctorData>({
  path: '/doctor',
  nav: 'doctor',
  every: 0,
  scripts: [script.name],
  async load({ engine, query, cache, look }) {
    const cursor = query.get('cursor')
    const [{ examined: before, ...health }, { stats, series }, examined] = await Promise.all([
      engine.health(),
      cache.glance('minute'),
      cursor === null ? undefined : engine.doctor.examine(cursor || undefined),
    ])
    const lost = sum(series.points, ({ at, lost }) => (at > look.now - HOUR ? lost : 0))
    const seen = { lost, unclaimed: stats.queues.filter((queue) => queue.counts.pull > 0 && isSlow(queue, look.now)) }
    if (!examined) return { ...seen, health: { ...health, ...(before && { examined: before }) } }
    return { ...seen, health, examined, total: sumOf(countsOf(stats.queues, null)) }
  },
  title: () => 'Doctor',
  View: ({ data, data: { health, examined, total, lost, unclaimed } }) => (
    <>
      <Head title="Doctor" note={noteOf({ health, lost, unclaimed })}>
        <LinkButton to="/doctor?cursor=&run" icon="doctor" kind="primary">
          Check all jobs
        </LinkButton>
      </Head>
      <div class="stack">
        <What data={data} />
        {examined && total !== undefined && <Examined data={{ examined, total }} />}
      </div>
    </>
  ),
  acts: {
    repair: {
      scope: 'admin',
      confirm: () => ({
        title: 'Repair the faults?',
        text: ['Each job is moved to the index that its record names. Faults that the record cannot resolve remain.'],
        verb: 'Repair',
      }),
      async does({ call, form, query }) {
        const cursors = new Set([query.get('cursor') ?? '', ...form.getAll('cursor').map(String)])
        let mended = 0
        for (const cursor of [...cursors].slice(0, MENDED)) {
          const at = cursor ? `?cursor=${encodeURIComponent(cursor)}` : ''
          const { repaired } = (await call('POST', `/v1/doctor/repair${at}`)) as { repaired: Fault[] }
          mended += repaired.length
        }
        return { say: `${many(mended, 'fault')} repaired` }
      },
    },
  },
})
