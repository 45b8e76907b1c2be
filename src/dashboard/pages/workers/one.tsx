import { encodedToJson } from '../../../core/codec/value.ts'
import { MINUTE } from '../../../core/units.ts'
import { shownUrl } from '../../../core/url.ts'
import type { JobRow, WorkerDefinition } from '../../../engine/engine.ts'
import { type Fact, Facts } from '../../parts/facts.tsx'
import { JobForm } from '../../parts/job-form.tsx'
import { Ago, Card, Empty, JobId, Link, Name, StatusPill, To } from '../../parts/layout.tsx'
import { Shares } from '../../parts/spark.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { What } from '../../parts/what.tsx'
import type { Step } from '../../search-on.ts'
import { type Deploy, deployName, deployPath } from '../../words/deploy.ts'
import type { ClassRow } from '../../words/failing.ts'
import { moreText, searchedOf } from '../../words/further.ts'
import { happened } from '../../words/happened.ts'
import { neighbours } from '../../words/neighbours.ts'
import { classJobsPath, newJobPath } from '../../words/paths.ts'
import { readSchema, wordsOf } from '../../words/schema.ts'
import { about, backoffOf, count, cut, many, span } from '../../words/text.ts'
import type { KindsData } from '../jobs/kinds.tsx'
import { Hours, type Program, type Worker } from './classes.tsx'
import { fields } from './fields.tsx'

const SERVING = 5

type AboutProps = { worker: Worker; programs: readonly Program[] }

function ServedBy({ worker: { class: own, push, pull, seen, servedBy }, programs }: AboutProps) {
  if (push) return shownUrl(push.url)
  if (pull)
    return (
      <>
        pull workers;{' '}
        {seen === null ? (
          'no named worker has claimed from the queue'
        ) : (
          <>
            the last claim from its queue was <Ago at={seen} />
          </>
        )}
        {programs.slice(0, SERVING).map(({ id, runs }) => (
          <div>{`${cut(id, 30)}: ${many(runs.filter((run) => run.class === own).length, 'job')}`}</div>
        ))}
      </>
    )
  if (servedBy.length === 0) return 'a function that no deployment serves'
  return (
    <>
      {`a function of ${many(servedBy.length, 'deployment')}: `}
      {servedBy.slice(0, SERVING).map(({ id, at, version }, i) => (
        <>
          {i > 0 && ', '}
          <span class="mono">{id}</span>
          {version && (
            <>
              , version <span class="mono">{version}</span>
            </>
          )}
          , changed <Ago at={at} />
        </>
      ))}
    </>
  )
}

const retriesOf = ({ retry }: WorkerDefinition): string => {
  const most = retry?.max === undefined ? fields.retries.placeholder! : count(retry.max)
  return `${most}${backoffOf(retry)}`
}

export function About({ worker, programs }: AboutProps) {
  const { concurrency, timeout, pull, retain, history } = worker
  const facts: Fact[] = [
    ['Served by', <ServedBy worker={worker} programs={programs} />],
    ['Max running', concurrency !== undefined && count(concurrency)],
    ['Retries', retriesOf(worker)],
    // A claim of a pull worker sets the lease of its runs, and the run timeout has no effect.
    ['Lease', pull && 'set by each claim; 60 s by default'],
    ['Run timeout', timeout !== undefined && !pull && span(timeout)],
    [
      'Kept after it ends',
      `${retain === undefined ? fields.retain.placeholder : span(retain)}${history ? `, with the last ${count(history)} runs` : ''}`,
    ],
  ]
  return (
    <Card title="Definition">
      <div class="wdesc">
        <Facts of={facts} />
      </div>
    </Card>
  )
}

type PortRow = { dir: 'in' | 'out'; name: string; port: NonNullable<Worker['in']>[string] }

const portColumns: readonly Column<PortRow>[] = [
  { head: 'Direction', cell: ({ dir }) => <span class="tag dirr">{dir}</span> },
  { head: 'Port', cell: ({ name }) => <Name of={name} most={24} kind="mono" isMain /> },
  {
    head: 'Values',
    kind: 'fill mono dim',
    cell: ({ port: { schema } }) => wordsOf(readSchema(schema && encodedToJson(schema))),
  },
  {
    head: '#Default',
    cell: ({ dir, port }) =>
      port.default === undefined ? (
        <span class="note">{dir === 'in' ? 'required' : ''}</span>
      ) : (
        <Name of={encodedToJson(port.default)} most={16} kind="val" />
      ),
  },
]

export function Ports({ worker }: { worker: Worker }) {
  const rows = (['in', 'out'] as const).flatMap((dir) =>
    Object.entries(worker[dir] ?? {}).map(([name, port]): PortRow => ({ dir, name, port })),
  )
  return (
    <Card title="Ports">
      <DataTable
        caption="Ports"
        empty="No ports. Jobs of this class take args."
        rows={rows.slice(0, 60)}
        columns={portColumns}
        isPlain
      />
    </Card>
  )
}

export const TryIt = ({ worker }: { worker: Worker }) => (
  <Card title="Try it" right={<Link to={newJobPath(worker)}>As code</Link>}>
    <JobForm worker={worker} stay />
  </Card>
)

export const NEWEST = 8

type TodayProps = { worker: Worker; of?: ClassRow; kinds: KindsData; deploys: readonly Deploy[] }

function Began({ kinds: { kinds }, deploys }: { kinds: KindsData; deploys: readonly Deploy[] }) {
  if (kinds.length === 0) return null
  const at = Math.min(...kinds.map(({ firstAt }) => firstAt))
  const deploy = deploys.find((one) => one.at <= at)
  return (
    <p class="st failed">
      <span>
        Errors began <Ago at={at} />
        {deploy && (
          <>
            , {at - deploy.at < MINUTE ? 'with' : `${span(at - deploy.at)} after`} the{' '}
            <To kind="link said" to={deployPath(deploy)}>
              {deployName(deploy)}
            </To>
          </>
        )}
      </span>
    </p>
  )
}

export function Today({ worker, of, kinds, deploys }: TodayProps) {
  const { runs = 0, failed = 0, completed = 0 } = of?.counts ?? {}
  return (
    <Card
      title="Today, UTC"
      right={
        <span>
          {many(runs, 'run')},{' '}
          <To kind={failed > 0 ? 'link up' : 'link'} to={classJobsPath(worker, 'failed')}>
            {count(failed)} failed
          </To>
        </span>
      }
    >
      {completed + failed > 0 && (
        <Shares
          label={`${many(completed, 'job')} completed, ${count(failed)} failed`}
          of={[
            { n: completed, kind: 'done' },
            { n: failed, kind: 'failed' },
          ]}
        />
      )}
      {of?.took ? (
        <div class="body row">
          <div class="grow">
            <Began kinds={kinds} deploys={deploys} />
            <p class="dim">{`Half of the runs took at most ${about(of.took.p50)}, 95% at most ${about(of.took.p95)}.`}</p>
          </div>
          <Hours hours={of.hours} />
        </div>
      ) : (
        <Empty>No runs since midnight UTC.</Empty>
      )}
    </Card>
  )
}

type NewestProps = { worker: Worker; last: Step<JobRow>; paused: ReadonlySet<string> }

/** Jobs that wait for the same reason share a row, unless they wait for a time. */
function reasonOf(job: JobRow, paused: ReadonlySet<string>): string {
  const { text, at } = happened(job, paused)
  return job.status === 'queued' && !at ? text : String(job.id)
}

export function Newest({ worker, last, paused }: NewestProps) {
  const searched = searchedOf(last)
  const { rows } = last
  return (
    <Card title="Newest jobs" right={<Link to={classJobsPath(worker)}>All jobs</Link>}>
      {rows.length === 0 && <p class="note foot">{searched ? moreText(0, searched.where) : 'None yet.'}</p>}
      <ul class="lasts body">
        {neighbours(rows, (job) => reasonOf(job, paused)).map(([job, ...more]) => (
          <li>
            <JobId id={job.id} /> <StatusPill status={job.status} />{' '}
            <span class="clip dim">
              <What job={job} paused={paused} />
            </span>{' '}
            <span class="right note">
              {more.length > 0 && `${count(more.length)} more like this `}
              {job.ranAt !== null && job.endedAt !== null && `took ${span(job.endedAt - job.ranAt)}`}
            </span>
            <Ago at={job.createdAt} />
          </li>
        ))}
      </ul>
    </Card>
  )
}
