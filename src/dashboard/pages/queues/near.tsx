// Parts of a queue: servers, runs, next jobs and classes.

import type { Child } from 'hono/jsx'
import type { ProcessView, QueueDetail } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { Card, Empty, JobId } from '../../parts/layout.tsx'
import { Ago, Since } from '../../parts/moment.tsx'
import { Name, NameLink } from '../../parts/name.tsx'
import { RunRow } from '../../parts/run-row.tsx'
import { Table } from '../../parts/table.tsx'
import { count, many, short } from '../../words/number.ts'
import { cut, listed } from '../../words/text.ts'
import { about, span } from '../../words/time.ts'
import type { ClassRow } from '../jobs/by-class.tsx'

const [RUNS, CLASSES] = [6, 12]

type ServerProps = { id: string; most: number; tag: string; has: Child; when: Child }

const Server = ({ id, most, tag, has, when }: ServerProps) => (
  <tr>
    <td>
      <b class="mono">
        <Name of={id} most={most} />
      </b>{' '}
      <span class="tag">{tag}</span>
    </td>
    <td class="fill dim">{has}</td>
    <td class="num dim">{when}</td>
  </tr>
)

const Until = ({ at }: { at: number }) => (
  <>
    ends <Ago at={at} />
  </>
)

export function Serves({ queue, processes }: { queue: QueueDetail; processes: ProcessView[] }) {
  const { open, claims, batch, runs } = queue
  const programs = processes.flatMap((one) => (one.kind === 'pull' && one.queues.includes(queue.name) ? [one] : []))
  const all = open.length + programs.length + claims.length
  const runsOf = (lane: string): number => runs.filter((run) => run.lane !== null && lane.startsWith(run.lane)).length
  return (
    <Card title="Who serves it" tag={count(all)}>
      {all === 0 && <Empty>No lane is open, and no pull worker has claimed from this queue.</Empty>}
      <Table caption="Lanes, pull workers, and waiting claims" heads={['Who', 'What it has', 'Since or until']} isPlain>
        {open.map(({ id, kind, since, until }) => (
          <Server
            {...{ id, most: 12, tag: kind === 'bell' ? 'on its way' : 'lane' }}
            has={kind === 'lane' && `${many(runsOf(id), 'run')}, ${count(batch)} at most`}
            when={
              since === null ? (
                <Until at={until} />
              ) : (
                <>
                  open <Since at={since} />
                </>
              )
            }
          />
        ))}
        {programs.map(({ id, runs, startedAt }) => (
          <Server
            {...{ id, most: 24, tag: 'pull' }}
            has={`${many(runs.length, 'run')} under way`}
            when={<Since at={startedAt} />}
          />
        ))}
        {claims.map(({ id, names, until }) => (
          <Server
            {...{ id, most: 12, tag: 'waits' }}
            has={`for ${names.length === 0 ? 'any class' : cut(listed(names), 40)}`}
            when={<Until at={until} />}
          />
        ))}
      </Table>
    </Card>
  )
}

export function UnderWay({ queue: { runs, counts } }: { queue: QueueDetail }) {
  return (
    <Card title="Runs under way" tag={count(counts.running)} right="of the lease">
      {runs.length === 0 && <Empty>Nothing runs.</Empty>}
      <Table
        caption="Runs under way, the lease that ends first at the top"
        heads={['Class and job', 'Runs for', 'Lease']}
        isPlain
      >
        {runs.slice(0, RUNS).map((run) => (
          <RunRow run={run} />
        ))}
      </Table>
    </Card>
  )
}

function reason({ priority, since }: QueueDetail['next'][number], ageing: number | null, now: number): string {
  if (ageing === null) return `priority ${priority}`
  const steps = Math.floor((now - since) / ageing)
  return steps === 0 ? `priority ${priority}` : `priority ${priority}, ${many(steps, 'step')} by its wait`
}

const orderOf = (ageing: number | null): string =>
  ageing === null
    ? 'smallest priority first, then longest wait'
    : `a wait of ${span(ageing)} is worth one step of priority`

export function Next({ queue: { next, ageing } }: { queue: QueueDetail }) {
  const { now } = useLook()
  return (
    <Card title="Who is next" tag={count(next.length)} right={orderOf(ageing)}>
      {next.length === 0 && <Empty>No job is ready.</Empty>}
      <Table
        caption="Ready jobs, in the order in which they start"
        heads={['Place', 'Job', 'Class', 'Reason', 'Waits']}
        isPlain
      >
        {next.map((one, i) => (
          <tr>
            <td class="num dim">{i + 1}</td>
            <td>
              <JobId id={one.job} />
            </td>
            <td class="fill">
              <Name of={one.class} most={40} />{' '}
              {one.group && (
                <span class="tag">
                  <Name of={one.group} most={24} />
                </span>
              )}{' '}
              {one.pull && <span class="tag">pull</span>}
            </td>
            <td class="num dim">{reason(one, ageing, now)}</td>
            <td class="num">
              <Since at={one.since} />
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  )
}

export function ItsClasses({ name: queue, classes }: { name: string; classes: readonly ClassRow[] }) {
  const busy = classes.toSorted((a, b) => b.counts.runs - a.counts.runs)
  return (
    <Card title="Classes" tag={count(classes.length)} right="today, UTC">
      {classes.length === 0 && <Empty>Nothing was counted today.</Empty>}
      <Table
        caption="Classes of this queue, with their counts since midnight UTC"
        heads={['Class', 'Runs', 'Failed', 'p95']}
        isPlain
      >
        {busy.slice(0, CLASSES).map(({ class: name, counts, took }) => (
          <tr>
            <td class="fill">
              {name === null ? (
                <span class="dim">all other classes</span>
              ) : (
                <NameLink
                  to={`/workers/${encodeURIComponent(queue)}/${encodeURIComponent(name)}`}
                  of={name}
                  most={30}
                />
              )}
            </td>
            <td class="num">{many(counts.runs, 'run')}</td>
            <td class={counts.failed > 0 ? 'num up' : 'num dimmer'}>{short(counts.failed)} failed</td>
            <td class="num dim" title="95 of 100 runs took at most this">
              {took ? about(took.p95) : '–'}
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  )
}
