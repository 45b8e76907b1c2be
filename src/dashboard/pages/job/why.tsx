import type { JobView, LimitView, Why as WhyView } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { Act, LinkButton } from '../../parts/act.tsx'
import { Shape, To } from '../../parts/layout.tsx'
import { wayToLimit } from '../../words/limit.ts'
import { type Family, idNote } from '../../words/timeline.ts'
import { type Cell, cellsOf, type Remedy } from '../../words/why.ts'

function RemedyButton({ remedy, own }: { remedy: Remedy; own: number }) {
  if (remedy.kind === 'limit')
    return (
      <LinkButton to={wayToLimit(remedy.key)} small>
        Show holders
      </LinkButton>
    )
  if (remedy.kind === 'resume')
    return (
      <Act act="resume" at="/queues" scope="admin" fields={{ queue: remedy.queue }} icon="play" small>
        Resume
      </Act>
    )
  if (remedy.kind === 'look')
    return (
      <LinkButton to={`/jobs/${remedy.job}`} small>
        Open job
      </LinkButton>
    )
  if (remedy.kind === 'write')
    return (
      <LinkButton to={`/jobs/${remedy.job}?port=${encodeURIComponent(remedy.port)}#ports`} small>
        Write to {remedy.port}
      </LinkButton>
    )
  // The head of the page already has this button.
  if (remedy.job === own && remedy.kind !== 'first') return null
  const verbs = { first: 'Start first', run: 'Run now', retry: 'Retry' }
  return (
    <Act act={remedy.kind} at={`/jobs/${remedy.job}`} scope="write" small>
      {verbs[remedy.kind]}
    </Act>
  )
}

const headOf = (status: string): string =>
  status === 'running'
    ? 'Current activity'
    : status === 'failed'
      ? 'Why it failed'
      : status === 'completed'
        ? 'Outcome'
        : 'Why it does not run'

export function CellText({ cell: { text, limit }, kind }: { cell: Cell; kind?: string }) {
  if (!limit) return <>{text}</>
  const at = text.indexOf(limit)
  return (
    <>
      {text.slice(0, at)}
      <To kind={kind} to={wayToLimit(limit)}>
        {limit}
      </To>
      {text.slice(at + limit.length)}
    </>
  )
}

function Link({ cell, own, family }: { cell: Cell; own: number; family: Family }) {
  const { sub, status, means, remedies } = cell
  const isOwn = cell.job === own
  const name = family.find(({ job }) => job.id === cell.job)?.name ?? cell.class
  return (
    <li>
      <span class="step">
        <span class={`st ${status}`}>
          <Shape status={status} />
        </span>
        {isOwn ? (
          <span>{headOf(status)}</span>
        ) : (
          <>
            <To to={`/jobs/${cell.job}`}>{name}</To> {idNote(name, { class: cell.class, id: cell.job })}
          </>
        )}
      </span>
      <p title={means}>
        <CellText cell={cell} />
      </p>
      {sub && <p class="sub">{sub}</p>}
      {remedies.length > 0 && (
        <span class="acts">
          {remedies.map((remedy) => (
            <RemedyButton remedy={remedy} own={own} />
          ))}
        </span>
      )}
    </li>
  )
}

type WhyProps = { job: JobView; why: WhyView; family: Family; limits: readonly LimitView[] }

export function Why({ job, why, family, limits }: WhyProps) {
  const { now, zone } = useLook()
  const cells = cellsOf(why, [job, ...family.map(({ job }) => job)], { now, zone }, limits)
  return (
    <ol class={`why n${cells.length}`} aria-label="Why it does not run">
      {cells.map((cell) => (
        <Link cell={cell} own={job.id} family={family} />
      ))}
    </ol>
  )
}
