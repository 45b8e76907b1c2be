import type { Child } from 'hono/jsx'
import { useLook, useWay } from '../../../look.ts'
import { PlainButtons } from '../../../parts/act.tsx'
import { Icon, To } from '../../../parts/layout.tsx'
import { CLOSED } from '../../../words/flow.ts'
import { cellsOf } from '../../../words/why.ts'
import { CellText } from '../../job/why.tsx'
import type { Near } from '../load.ts'

type PanelProps = { of: 'Node' | 'Wire'; title: Child; below?: Child; children: Child }

export function Panel({ of, title, below, children }: PanelProps) {
  return (
    <aside class="insp" id="insp" aria-label={`Selected ${of.toLowerCase()}`}>
      <header>
        <p class="note">{of}</p>
        <p class="row title">
          {title}
          <span class="grow" />
          <To kind="btn small icon quiet" label="Close" to={useWay()(CLOSED)}>
            <Icon name="x" size={14} />
          </To>
        </p>
        {below}
      </header>
      {children}
    </aside>
  )
}

export function Part({ title, right, children }: { title: string; right: Child; children?: Child }) {
  return (
    <section>
      <div class="row">
        <h3>{title}</h3>
        <span class="grow" />
        {right}
      </div>
      {children}
    </section>
  )
}

export function WhySaid({ near }: { near: Near }) {
  const { now, zone } = useLook()
  if (!near.why) return <p class="note">No value has reached this node yet, so it has no job.</p>
  const cells = cellsOf(near.why, near.job ? [near.job] : [], { now, zone })
  if (cells.length === 0) return <p class="note">Idle: all values are processed.</p>
  return (
    <>
      {cells.map((cell) => (
        <>
          <p>
            <CellText cell={cell} kind="link" /> {cell.sub && <span class="dim">{cell.sub}</span>}
          </p>
          <div class="row below">
            <PlainButtons of={cell.remedies} />
          </div>
        </>
      ))}
    </>
  )
}
