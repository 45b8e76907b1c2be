import type { ProcessView, RunUnderWay } from '../../../engine/engine.ts'
import { Ago, Card, JobIds, Name } from '../../parts/layout.tsx'
import { DataTable } from '../../parts/table.tsx'
import { count, cut, listed, many } from '../../words/text.ts'

export type Program = Extract<ProcessView, { kind: 'pull' }>

export const programsIn = (processes: readonly ProcessView[], queue?: string): Program[] =>
  processes.filter((one): one is Program => one.kind === 'pull' && (!queue || one.queues.includes(queue)))

const [SHOWN, JOBS] = [50, 2]

type LiveProps = { programs: readonly Program[]; unnamed: readonly RunUnderWay[] }

export const Live = ({ programs, unnamed }: LiveProps) => (
  <Card title="Pull workers" tag={count(programs.length)} kind="pulls">
    <DataTable
      caption="Named pull workers, with the jobs that they hold"
      empty="No named pull worker has claimed in the last 10 minutes."
      rows={programs.slice(0, SHOWN)}
      columns={[
        {
          head: 'Name, queues',
          kind: 'fill',
          cell: ({ id, queues, live, signal }) => (
            <>
              <Name of={id} most={28} /> {(signal || !live) && <span class="tag">{signal ?? 'silent'}</span>}
              <div class="note clip">{cut(listed(queues), 60)}</div>
            </>
          ),
        },
        { head: '#Jobs', label: 'Jobs', cell: ({ runs }) => <JobIds of={runs} most={JOBS} /> },
        { head: '#Seen', label: 'seen', kind: 'dim', cell: ({ seenAt }) => <Ago at={seenAt} /> },
      ]}
      kind="lined"
    />
    {unnamed.length > 0 && (
      <p class="note foot">
        {many(unnamed.length, 'job')} of unnamed pull workers: <JobIds of={unnamed} most={JOBS} />
      </p>
    )}
  </Card>
)
