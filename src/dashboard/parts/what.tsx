import { type HappenedRow, happened } from '../words/happened.ts'
import { Ago, Since } from './layout.tsx'

export function What({ job, paused }: { job: HappenedRow; paused?: ReadonlySet<string> }) {
  const { text, at, after } = happened(job, paused)
  return (
    <span title={after ?? (at ? undefined : text)}>
      {text}
      {at && ' '}
      {at?.of === 'since' && <Since at={at.moment} />}
      {at?.of === 'until' && <Ago at={at.moment} />}
      {after && `, after: ${after}`}
    </span>
  )
}
