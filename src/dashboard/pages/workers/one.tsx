import { encodedToJson } from '../../../core/codec/value.ts'
import { shownUrl } from '../../../core/url.ts'
import type { WorkerDefinition } from '../../../engine/engine.ts'
import { type Fact, Facts } from '../../parts/facts.tsx'
import { JobForm } from '../../parts/job-form.tsx'
import { Ago, Card, Link, Name } from '../../parts/layout.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { newJobPath } from '../../words/paths.ts'
import { readSchema, wordsOf } from '../../words/schema.ts'
import { count, cut, many, span } from '../../words/text.ts'
import type { Program, Worker } from './classes.tsx'
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
  const base = retry?.backoff?.base
  return base === undefined ? most : `${most}; backoff ${span(base)} × ${retry?.backoff?.factor ?? 2}`
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
