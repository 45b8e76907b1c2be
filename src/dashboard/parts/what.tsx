import type { JobRow } from '../../engine/engine.ts'
import { happened } from '../words/happened.ts'
import { Ago, Since } from './layout.tsx'

export function What({ job, paused }: { job: JobRow; paused?: ReadonlySet<string> }) {
  const { text, at, after } = happened(job, paused)
  return (
    <>
      {text}
      {at && ' '}
      {at?.of === 'since' && <Since at={at.moment} />}
      {at?.of === 'until' && <Ago at={at.moment} />}
      {after && `, after: ${after}`}
    </>
  )
}
