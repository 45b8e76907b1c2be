import type { CurrentRun } from '../../engine/engine.ts'
import { useLook } from '../look.ts'
import { JobId, NameLink, Since } from './layout.tsx'
import { Meter, type Tone } from './spark.tsx'
import type { Column } from './table.tsx'

type Run = Pick<CurrentRun, 'job' | 'class' | 'startedAt' | 'leaseUntil'>

function Lease({ run: { startedAt, leaseUntil }, tone }: { run: Run; tone?: (share: number) => Tone }) {
  const { now } = useLook()
  const share = (now - startedAt) / Math.max(1, leaseUntil - startedAt)
  return <Meter share={share} tone={tone?.(share)} />
}

export const runColumns = (tone?: (share: number) => Tone): readonly Column<Run>[] => [
  {
    head: 'Class and job',
    kind: 'fill',
    cell: ({ job, class: name }) => (
      <>
        <NameLink to={`/jobs/${job}`} of={name} most={24} /> <JobId id={job} />
      </>
    ),
  },
  { head: '#Running for', cell: ({ startedAt }) => <Since at={startedAt} /> },
  { head: 'Lease', cell: (run) => <Lease run={run} tone={tone} /> },
]
