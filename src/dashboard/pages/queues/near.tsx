import type { Child } from 'hono/jsx'
import type { QueueDetail } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { Ago, Card, JobId, Link, Name, NameLink, Since, Tag, To } from '../../parts/layout.tsx'
import { runColumns } from '../../parts/runs.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import type { ClassRow } from '../../words/failing.ts'
import { jobsPath, limitPath } from '../../words/paths.ts'
import { startableIn } from '../../words/queue.ts'
import { count, cut, jobsWait, listed, many, span } from '../../words/text.ts'
import { queuePageColumns } from '../jobs/by-class.tsx'
import { type Program, Seen } from '../workers/classes.tsx'

const [RUNS, CLASSES] = [6, 12]

type Server = readonly [id: string, tag: string, has: Child, when: Child]

const serverColumns: readonly Column<Server>[] = [
  {
    head: 'Name',
    kind: 'wraps',
    cell: ([id, tag]) => (
      <>
        <Name of={id} most={16} kind="mono" isMain /> <span class="tag">{tag}</span>
      </>
    ),
  },
  { head: 'Work', kind: 'wraps dim', cell: ([, , has]) => has },
  { head: '#Since or until', label: false, kind: 'wraps dim', cell: ([, , , when]) => when },
]

function serversOf({ name, open, claims, batch, runs, counts }: QueueDetail, programs: readonly Program[]): Server[] {
  const runsOf = (lane: string): number => runs.filter((run) => run.lane !== null && lane.startsWith(run.lane)).length
  const isCut = counts.running > runs.length
  return [
    ...open.map(
      ({ id, kind, since, until }): Server => [
        id,
        kind === 'bell' ? 'bell, not delivered yet' : 'lane',
        kind === 'lane' && `${isCut ? 'at least ' : ''}${many(runsOf(id), 'run')}, ${count(batch)} at most`,
        since === null ? (
          <Ago at={until} word="ends" />
        ) : (
          <>
            open <Since at={since} />
          </>
        ),
      ],
    ),
    ...programs.map(
      ({ id, runs, seenAt }): Server => [
        id,
        'pull',
        many(runs.filter(({ queue }) => queue === name).length, 'run').replace(' ', '\u00a0'),
        <Seen at={seenAt} />,
      ],
    ),
    ...claims.map(
      ({ id, names, until }): Server => [
        id,
        'waits',
        `for ${names.length === 0 ? 'any class' : cut(listed(names), 40)}`,
        <Ago at={until} word="ends" />,
      ],
    ),
  ]
}

export function Serves({ queue, programs }: { queue: QueueDetail; programs: readonly Program[] }) {
  const servers = serversOf(queue, programs)
  return (
    <Card title="Served by" tag={count(servers.length)}>
      <DataTable
        caption="Lanes, pull workers, and waiting claims"
        empty={
          <>
            No lane is open, and no pull worker has claimed from this queue.{' '}
            {queue.counts.pull > 0 && <Link to="/workers?register">Create a pull worker</Link>}
          </>
        }
        rows={servers}
        columns={serverColumns}
        kind="lined"
        isPlain
      />
    </Card>
  )
}

export function UnderWay({ queue: { name, runs, counts } }: { queue: QueueDetail }) {
  return (
    <Card
      title="Current runs"
      tag={count(counts.running)}
      right={
        <>
          elapsed share of the lease{' '}
          {counts.running > RUNS && <Link to={jobsPath({ status: 'running', queue: name })}>Show all</Link>}
        </>
      }
    >
      <DataTable
        caption="Current runs, shortest remaining lease first"
        empty="No jobs are running."
        rows={runs.slice(0, RUNS)}
        columns={runColumns()}
        isPlain
      />
    </Card>
  )
}

type Place = Pick<QueueDetail['next'][number], 'priority' | 'since' | 'pull'>

function reason({ priority, since }: Place, ageing: number | null, now: number): string {
  const steps = ageing === null ? 0 : Math.floor((now - since) / ageing)
  if (steps > 0) return `priority ${priority}, raised ${many(steps, 'step')} by waiting`
  return priority === 0 ? '' : `priority ${priority}`
}

const orderOf = (ageing: number | null): string =>
  ageing === null
    ? 'smallest priority first, then longest wait'
    : `each ${span(ageing)} of waiting counts as one step of priority`

type HeldProps = { queue: QueueDetail; held: readonly string[] }

export function Held({ queue: { name: queue, counts }, held }: HeldProps) {
  const { failed, limited } = counts
  return (
    <>
      {failed > 0 && (
        <p class="body">
          <To kind="link said" to={jobsPath({ status: 'failed', queue })}>
            See the errors of {many(failed, 'failed job')}
          </To>
          , then retry or delete the jobs.
        </p>
      )}
      {limited > 0 && (
        <p class="body">
          <To kind="link said" to={jobsPath({ waits: 'limit', queue })}>
            {jobsWait(limited)}
          </To>{' '}
          for room in a limit:{' '}
          {held.map((key, i) => (
            <>
              {i > 0 && ', '}
              <NameLink kind="link said" to={limitPath(key)} of={key} most={40} />
            </>
          ))}
        </p>
      )}
    </>
  )
}

export function Next({ queue, queue: { next, ageing, paused, counts } }: { queue: QueueDetail }) {
  const { now } = useLook()
  const areAllPull = next.length > 0 && next.every(({ pull }) => pull)
  const notesOf = (one: Place): string =>
    [reason(one, ageing, now), one.pull && !areAllPull && 'waits for a pull worker'].filter(Boolean).join('; ')
  return (
    <Card
      title={paused ? 'Next jobs after the pause' : 'Next jobs'}
      tag={count(startableIn(queue))}
      right={orderOf(ageing)}
    >
      {areAllPull && <p class="note body">All wait for a pull worker.</p>}
      <DataTable
        caption="Ready jobs, in starting order"
        empty={counts.limited > 0 ? 'No jobs are ready. Jobs wait for room in a limit.' : 'No jobs are ready.'}
        rows={next}
        columns={[
          { head: '#Place', kind: 'dim', cell: (_, i) => i + 1 },
          { head: 'Job', cell: ({ job }) => <JobId id={job} /> },
          {
            head: 'Class',
            kind: 'fill',
            cell: ({ class: name, group, ...one }) => (
              <>
                <span class="listener">
                  <Name of={name} most={40} /> {group && <Tag of={group} />}
                </span>{' '}
                <span class="listener note">{notesOf(one)}</span>
              </>
            ),
          },
          { head: '#Waits', cell: ({ since }) => <Since at={since} /> },
        ]}
        isPlain
      />
    </Card>
  )
}

export function ItsClasses({ classes }: { classes: readonly ClassRow[] }) {
  const busy = classes.toSorted((a, b) => b.counts.runs - a.counts.runs)
  return (
    <Card title="Classes" tag={count(classes.length)} right="today, UTC">
      <DataTable
        caption="Classes of this queue, with their counts since midnight UTC"
        empty="No runs today."
        rows={busy.slice(0, CLASSES)}
        columns={queuePageColumns}
        kind="lined"
      />
    </Card>
  )
}
