// A row of a current run.

import type { Child } from 'hono/jsx'
import type { RunUnderWay } from '../../engine/engine.ts'
import { useLook } from '../look.ts'
import { JobId } from './layout.tsx'
import { Since } from './moment.tsx'
import { NameLink } from './name.tsx'
import { Meter, type Tone } from './spark.tsx'

type RunRowProps = {
  run: Pick<RunUnderWay, 'job' | 'class' | 'startedAt' | 'leaseUntil'>
  tone?: (share: number) => Tone
  mark?: Child
}

export function RunRow({ run: { job, class: name, startedAt, leaseUntil }, tone, mark }: RunRowProps) {
  const { now } = useLook()
  const share = (now - startedAt) / Math.max(1, leaseUntil - startedAt)
  return (
    <tr>
      {mark && <td>{mark}</td>}
      <td class="fill">
        <NameLink to={`/jobs/${job}`} of={name} most={24} /> <JobId id={job} />
      </td>
      <td class="num">
        <Since at={startedAt} />
      </td>
      <td>
        <Meter share={share} tone={tone?.(share)} />
      </td>
    </tr>
  )
}
