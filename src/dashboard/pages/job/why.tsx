import type { JobView } from '../../../engine/engine.ts'
import { PlainButtons } from '../../parts/act.tsx'
import { Icon, Shape, To } from '../../parts/layout.tsx'
import { jobPath, limitPath } from '../../words/paths.ts'
import { type Family, idNote } from '../../words/timeline.ts'
import type { Cell } from '../../words/why.ts'

const heads: Record<string, string> = {
  running: 'Current activity',
  failed: 'Why it failed',
  completed: 'Outcome',
}

const headOf = ({ status, isStuck }: Cell): string =>
  status === 'running' && isStuck ? 'May be stuck' : (heads[status] ?? 'Why it does not run')

export function CellText({ cell: { text, limit }, kind }: { cell: Cell; kind?: string }) {
  if (!limit) return <>{text}</>
  const at = text.indexOf(limit)
  return (
    <>
      {text.slice(0, at)}
      <To kind={kind} to={limitPath(limit)}>
        {limit}
      </To>
      {text.slice(at + limit.length)}
    </>
  )
}

function Link({ cell, own, family }: { cell: Cell; own: number; family: Family }) {
  const { sub, status, means, isStuck, remedies } = cell
  const isOwn = cell.job === own
  // Omits buttons that the head of the page already has.
  const buttons = remedies.filter((one) => !('act' in one) || one.act === 'first' || one.at !== jobPath(own))
  const name = family.find(({ job }) => job.id === cell.job)?.name ?? cell.class
  return (
    <li>
      <span class="row step">
        <span class={`st ${isStuck ? 'suspended' : status}`}>
          {isStuck ? <Icon name="alert" size={14} /> : <Shape status={status} />}
        </span>
        {isOwn ? (
          <span>{headOf(cell)}</span>
        ) : (
          <>
            <To to={`/jobs/${cell.job}`}>{name}</To> {idNote(name, { class: cell.class, id: cell.job })}
          </>
        )}
      </span>
      <p title={means}>
        <CellText cell={cell} kind="said" />
      </p>
      {sub && <p class="sub">{sub}</p>}
      {buttons.length > 0 && (
        <span class="acts">
          <PlainButtons of={buttons} />
        </span>
      )}
    </li>
  )
}

export function Why({ job, cells, family }: { job: JobView; cells: readonly Cell[]; family: Family }) {
  return (
    <ol class="why" aria-label="Why it does not run">
      {cells.map((cell) => (
        <Link cell={cell} own={job.id} family={family} />
      ))}
    </ol>
  )
}
