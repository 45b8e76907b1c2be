import type { Child } from 'hono/jsx'
import { pageOf } from '../../core/faults.ts'
import { isId } from '../../core/job.ts'
import { HOUR } from '../../core/units.ts'
import type { Health, QueueView } from '../../engine/engine.ts'
import { asset as script } from '../built/doctor-js.generated.ts'
import { type Look, useLook } from '../look.ts'
import { type Asked, page } from '../page.ts'
import { Act, CopyButton, LinkButton } from '../parts/act.tsx'
import { Ago, Card, Head, Icon, Link, NameLink, Shape, Since, StatusText, To } from '../parts/layout.tsx'
import { CREATE_WORKER } from '../parts/snippet.tsx'
import { type Column, DataTable } from '../parts/table.tsx'
import { countsOf, sum, sumOf } from '../words/counts.ts'
import { checkedText, faultsTitle } from '../words/doctor.ts'
import { faultsIn, foundWords, isSlow, isTickMissing, TICK_REMEDY } from '../words/needs.ts'
import { queuePath } from '../words/paths.ts'
import { count, jobsWait, many, span } from '../words/text.ts'

type Fault = NonNullable<DoctorData['examined']>['faults'][number]
type Problem = NonNullable<Health['problems']>[number]
type DoctorData = Awaited<ReturnType<typeof load>>

const sliceAt = (cursor: string): string => `/doctor?cursor=${encodeURIComponent(cursor)}`

type Checked = { ok: boolean; text: string; result: Child; remedy?: Child }

const refusedBy = ({ message, inARow }: Problem): string => `${message}${inARow ? `, ${count(inARow)} in a row` : ''}`

function unclaimedCheck(unclaimed: readonly QueueView[]): Checked {
  if (unclaimed.length === 0)
    return { ok: true, text: 'Pull workers', result: 'no job has waited for a pull worker for over a minute' }
  return {
    ok: false,
    text: 'Pull workers',
    result: unclaimed.map(({ name, oldestReady, counts: { pull } }, i) => (
      <>
        {i > 0 && '; '}
        {jobsWait(pull)} in queue <NameLink kind="link said" to={queuePath(name)} of={name} />, for{' '}
        <Since at={oldestReady!} short />
      </>
    )),
    remedy: (
      <>
        Start a pull worker that claims from the queue. This command creates one:
        <br />
        <code>{CREATE_WORKER}</code> <CopyButton text={CREATE_WORKER} />
      </>
    ),
  }
}

function examinedCheck({ at, whole, faults, cursor }: NonNullable<Health['examined']>): Checked {
  const when = <Ago at={at} word={whole ? 'all checked,' : 'some checked,'} />
  if (cursor === null) return { ok: true, text: 'Jobs', result: <>{when}: no faults</> }
  return {
    ok: false,
    text: 'Jobs',
    result: (
      <>
        {when}: {many(faultsIn(faults), 'fault')}, at {foundWords(faults)}
      </>
    ),
    remedy: <Link to={sliceAt(cursor)}>See and repair them</Link>,
  }
}

const ASK_OPERATOR = 'Ask the operator of the deployment to check this service.'

const stores: Partial<Record<Problem['of'], string>> = { data: 'Records', history: 'History' }

function checksOf({ health, before, lost, unclaimed }: DoctorData, { now, tenant }: Look): Checked[] {
  const { redis, ms, tickAt, bellAt, problems = [], restored } = health
  const remedyOf = ({ of, remedy }: Problem) => (tenant !== undefined && of !== 'data' ? ASK_OPERATOR : remedy)
  const [state, bells] = (['redis', 'qstash'] as const).map((name) => problems.find(({ of }) => of === name))
  return [
    {
      ok: redis && !state,
      text: 'Redis',
      result: state ? refusedBy(state) : ms === undefined ? 'does not respond' : `responds in ${span(ms)}`,
      remedy: state?.remedy,
    },
    {
      ok: !bells,
      text: 'Bells, which wake the lanes',
      result: (
        <>
          {bells ? refusedBy(bells) : 'QStash accepts them'}
          {bellAt && <Ago at={bellAt} word="; last one" />}
        </>
      ),
      remedy: bells && remedyOf(bells),
    },
    ...(tickAt === undefined
      ? []
      : [
          {
            ok: !isTickMissing(tickAt, now),
            text: 'Tick, which wakes due jobs',
            result: tickAt === null ? 'none yet' : <Ago at={tickAt} word="last one" />,
            remedy: TICK_REMEDY,
          },
        ]),
    {
      ok: !restored,
      text: 'Loss of recent data',
      result: restored ? (
        <>
          Redis lost recent data <Ago at={restored.noticedAt} />: jobs {restored.lost.from} to {restored.lost.to} are
          lost
        </>
      ) : (
        'no loss detected'
      ),
      remedy: 'Create the lost jobs again.',
    },
    ...problems
      .filter(({ of }) => Object.hasOwn(stores, of))
      .map((one) => ({ ok: false, text: stores[one.of]!, result: refusedBy(one), remedy: remedyOf(one) })),
    {
      ok: lost === 0,
      text: 'Runs',
      result: `${lost === 0 ? 'none' : many(lost, 'run')} lost in the last hour`,
      remedy: <Link to="/log?q=run+lost&since=1h">See the reasons in the log</Link>,
    },
    unclaimedCheck(unclaimed),
    ...(before ? [examinedCheck(before)] : []),
  ]
}

function Checks({ of, title, right }: { of: readonly Checked[]; title: string; right?: string }) {
  if (of.length === 0) return null
  return (
    <Card title={title} right={right}>
      <ul class="checks choose">
        {of.map(({ ok, text, result, remedy }) => (
          <li>
            {ok ? <Shape status="completed" /> : <Icon name="alert" size={14} kind="failed" />}
            <span class="grow">
              {text}
              {!ok && remedy && <span class="sub">{remedy}</span>}
            </span>
            <span class="right">{result}</span>
          </li>
        ))}
      </ul>
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
      <progress max={Math.max(1, total)} value={cursor ? jobs : Math.max(1, total)} aria-label="Checked" />
      <span class="word" aria-live="polite">
        {checkedText(jobs, total, !cursor)}
      </span>
      {cursor && (
        <LinkButton to={sliceAt(cursor)} small>
          Check the next jobs
        </LinkButton>
      )}
    </div>
  )
}

function Examined({ of, total }: { of: NonNullable<DoctorData['examined']>; total: number }) {
  const { faults, jobs, cursor } = of
  return (
    <Card title={faultsTitle(faults.length, jobs)} id="examined">
      <Slices jobs={jobs} total={total} cursor={cursor} />
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

const MENDED = 20

async function load({ engine, query, cache, look }: Asked) {
  const cursor = query.get('cursor')
  const [{ examined: before, ...health }, { stats, series }, examined] = await Promise.all([
    engine.health(),
    cache.glance('minute'),
    cursor === null ? undefined : engine.doctor.examine(cursor || undefined),
  ])
  const lost = sum(series.points, ({ at, lost }) => (at > look.now - HOUR ? lost : 0))
  return {
    lost,
    unclaimed: stats.queues.filter((queue) => queue.counts.pull > 0 && isSlow(queue, look.now)),
    health,
    before: examined ? undefined : before,
    examined,
    total: sumOf(countsOf(stats.queues, null)),
  }
}

export const doctor = page({
  path: '/doctor',
  nav: 'doctor',
  every: 0,
  scripts: [script.name],
  load,
  View({ data, data: { health, examined, total } }) {
    const look = useLook()
    const { found = [], sound = [] } = Object.groupBy(checksOf(data, look), ({ ok }) => (ok ? 'sound' : 'found'))
    return (
      <>
        <Head title="Doctor" note={found.length === 0 ? 'no problems' : many(found.length, 'problem')}>
          <LinkButton to="/doctor?cursor=&run" icon="doctor" kind="primary">
            Check all jobs
          </LinkButton>
        </Head>
        <div class="stack">
          <Checks of={found} title="Problems" />
          <Checks of={sound} title={`${many(sound.length, 'check')} passed`} right={`version ${health.version}`} />
          {examined ? (
            <Examined of={examined} total={total} />
          ) : (
            <p class="note">
              This page checks the service; <NameLink kind="link said" to="/" of="Overview" /> lists the problems of
              jobs. “Check all jobs” compares every job with the indexes. It changes nothing.
            </p>
          )}
        </div>
      </>
    )
  },
  acts: {
    repair: {
      scope: 'admin',
      confirm: () => ({
        title: 'Repair the faults?',
        text: [
          'This rebuilds indexes, counts and relations from the records of jobs, and removes unreadable data.',
          'An unfinished job fails if its args are lost. Faults that the records cannot resolve remain.',
        ],
        verb: 'Repair',
      }),
      async does({ call, form, query }) {
        const cursors = [...new Set([query.get('cursor') ?? '', ...form.getAll('cursor').map(String)])]
        let mended = 0
        for (const cursor of cursors.slice(0, MENDED)) {
          const at = cursor ? `?cursor=${encodeURIComponent(cursor)}` : ''
          const { repaired } = await call<{ repaired: Fault[] }>('POST', `/v1/doctor/repair${at}`)
          mended += repaired.length
        }
        const say = `${many(mended, 'fault')} repaired`
        const next = cursors[MENDED]
        if (next === undefined) return { say }
        return { say: `${say}; more remain`, link: { text: 'Check the rest', to: `${sliceAt(next)}&run` } }
      },
    },
  },
})
