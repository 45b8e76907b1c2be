import { groupIdOf } from '../../../core/constraint.ts'
import type { JobView } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { type Fact, Facts } from '../../parts/facts.tsx'
import { LabelTags } from '../../parts/label-tags.tsx'
import { Card, JobId, Link, Name, NameLink, StatusMark, To } from '../../parts/layout.tsx'
import { wayToLimit } from '../../words/limit.ts'
import { groupPath, workerPath } from '../../words/paths.ts'
import { count, many, moment, money, span, statusOrder, title } from '../../words/text.ts'
import type { Family as Known } from '../../words/timeline.ts'

type RailProps = { job: JobView; known: Known }

const CHILDREN = 100

function Counts({ job: { id, children, moreChildren = 0 } }: { job: JobView }) {
  const known = Map.groupBy(Object.values(children), ({ status }) => status)
  return (
    <>
      {statusOrder
        .filter((status) => known.has(status))
        .map((status) => (
          <li class="l1">
            <StatusMark status={status} />
            <Link to={`/jobs?parent=${id}&status=${status}`}>{`${count(known.get(status)!.length)} ${status}`}</Link>
          </li>
        ))}
      <li class="l1">
        <Link to={`/jobs?parent=${id}`}>{moreChildren > 0 ? `${count(moreChildren)} more` : 'Show all'}</Link>
      </li>
    </>
  )
}

/** `known`: children whose details are loaded. */
function Family({ job, known }: RailProps) {
  const read = new Map(known.map((child) => [child.job.id, child.job.status]))
  const { id, parent, children, moreChildren = 0, status } = job
  const all = Object.entries(children)
  const isCounted = all.length + moreChildren > CHILDREN
  return (
    <Card title="Related jobs" right={count(all.length + moreChildren + (parent ? 2 : 1))}>
      <ul class="tree">
        {parent && (
          <li>
            <span class="dimmer">parent</span>
            <NameLink to={`/jobs/${parent.id}`} of={parent.name} most={20} />
            <JobId id={parent.id} />
          </li>
        )}
        <li class={`${parent ? 'l1 ' : ''}me`}>
          <StatusMark status={status} />
          <b class="clip">{job.class}</b>
          <span class="id">#{id}</span>
        </li>
        {(isCounted ? [] : all).map(([name, child]) => (
          <li class={parent ? 'l2' : 'l1'}>
            <StatusMark status={read.get(child.id) ?? child.status} />
            <span class="clip">
              <To to={`/jobs/${child.id}`}>{name}</To>
            </span>
            <JobId id={child.id} />
          </li>
        ))}
        {isCounted && <Counts job={job} />}
      </ul>
    </Card>
  )
}

const triesOf = ({ retry, attempt }: JobView): string => {
  const most = retry?.max === undefined ? '' : ` of ${count(retry.max + 1)}`
  const base = retry?.backoff?.base
  return `${count(attempt)}${most}${base === undefined ? '' : `, ${span(base)} × ${retry?.backoff?.factor ?? 2}`}`
}

function costOf({ cost }: JobView): string | false {
  if (!cost || cost.runs === 0) return false
  const { runs, took, commits, price, whole } = cost
  return [
    `${whole ? '' : 'the last '}${many(runs, 'run')}`,
    span(took),
    ...(commits === null ? [] : [many(commits, 'commit')]),
    ...(price === null ? [] : [`about ${money(price)}`]),
  ].join(', ')
}

const keptText = ({ keptUntil, retain }: JobView, zone: string): string => {
  if (keptUntil !== null) return `until ${moment(keptUntil, zone)}`
  return retain === null ? 'class default' : `${span(retain)} after it ends`
}

const Limits = ({ job: { limits, waitingAt } }: { job: JobView }) => (
  <span class="clip">
    {limits.slice(0, 4).map((key) => (
      <>
        <NameLink to={wayToLimit(key)} of={groupIdOf(key) ?? key} most={24} />
        {key === waitingAt && ' (waits)'}{' '}
      </>
    ))}
  </span>
)

function factsOf(job: JobView, zone: string): Fact[] {
  const {
    queue,
    class: of,
    group,
    labels,
    limits,
    callback,
    timeout,
    tag,
    unique,
    lockedUntil,
    run,
    version,
    pinnedTo,
  } = job
  return [
    ['Worker', <NameLink kind="mono clip" to={workerPath(queue, of)} of={`${queue}/${of}`} most={30} />],
    ['Group', group && <NameLink kind="clip" to={groupPath(group)} of={group} most={30} />],
    ['Labels', Object.keys(labels).length > 0 && <LabelTags labels={labels} />],
    ['Limits', limits.length > 0 && <Limits job={job} />],
    ['Attempts', triesOf(job)],
    ['Run timeout', timeout !== null && span(timeout)],
    ['Run by', run && (run.process ?? (run.lane ? `lane ${run.lane}` : '–'))],
    ['Version', version && <span class="mono">{version}</span>],
    ['Pinned to', pinnedTo && <span class="mono clip">{pinnedTo}</span>],
    [
      'Callback',
      callback && (callback.state ? title(callback.state.toLowerCase().replace('_', ' ')) : 'when the job ends'),
    ],
    [
      'Tag',
      tag && (
        <span class="mono">
          <Name of={tag} most={24} />
        </span>
      ),
    ],
    ['Unique until', unique?.until],
    ['Locked until', lockedUntil !== null && moment(lockedUntil, zone)],
    ['Cost', costOf(job)],
    ['Kept', keptText(job, zone)],
  ]
}

function FactsOf({ job }: { job: JobView }) {
  const { zone } = useLook()
  return (
    <Card title="Details">
      <Facts of={factsOf(job, zone)} kind="body" />
    </Card>
  )
}

export function Rail({ job, known }: RailProps) {
  return (
    <aside class="stack rail" aria-label="Related jobs and details">
      <Family job={job} known={known} />
      <FactsOf job={job} />
    </aside>
  )
}
