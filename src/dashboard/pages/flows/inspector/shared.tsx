import { useLook } from '../../../look.ts'
import { Icon, Link, To } from '../../../parts/layout.tsx'
import { wayToLimit } from '../../../words/limit.ts'
import { cellsOf } from '../../../words/why.ts'
import type { Near } from '../load.ts'

export function Close({ flow }: { flow: number }) {
  return (
    <To kind="btn small icon quiet" label="Close" to={`/flows/${flow}`}>
      <Icon name="x" size={14} />
    </To>
  )
}

export function WhySaid({ near }: { near: Near }) {
  const { now, zone } = useLook()
  if (!near.why) return <p class="note">No value has reached it yet, so it has no job.</p>
  const cells = cellsOf(near.why, near.job ? [near.job] : [], { now, zone })
  if (cells.length === 0) return <p class="note">It is idle: it has processed all values.</p>
  return (
    <>
      {cells.map(({ text, sub, limit }) => (
        <p>
          {limit ? text.slice(0, text.indexOf(limit)) : text}
          {limit && <Link to={wayToLimit(limit)}>{limit}</Link>}
          {limit && text.slice(text.indexOf(limit) + limit.length)} {sub && <span class="dim">{sub}</span>}
        </p>
      ))}
    </>
  )
}
