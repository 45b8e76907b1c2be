import { lacksFailedRuns } from '../../../core/cost.ts'
import { type Status, statuses } from '../../../core/job.ts'
import type { JobView } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { type Fact, Facts } from '../../parts/facts.tsx'
import { LabelTags } from '../../parts/label-tags.tsx'
import { Card, JobId, Link, Name, NameLink, StatusMark, To } from '../../parts/layout.tsx'
import { failedRuns } from '../../words/job.ts'
import { jobsPath, limitPath, workerPath } from '../../words/paths.ts'
import { atLeast, backoffOf, count, dayOf, hourOf, many, moment, money, span } from '../../words/text.ts'
import type { Family as Known } from '../../words/timeline.ts'
import { runnerOf } from '../../words/why.ts'
import { stateText } from '../callbacks/opened.tsx'

type RailProps = { job: JobView; known: Known }

const FEW = 5

type Child = { id: number; name: string; of: string; status: Status; is: string }

const { compare } = new Intl.Collator('en', { numeric: true })
const rank = ({ status }: Child): number => (status === 'failed' ? -1 : statuses.indexOf(status))

function Summary({ id, all, more }: { id: number; all: readonly Child[]; more: number }) {
  const groups = [...Map.groupBy(all, ({ is }) => is)].map(([is, { length }]) => (
    <Link to={jobsPath({ parent: id, status: is })}>{`${count(length)} ${is.replace(',', ' or ')}`}</Link>
  ))
  if (more > 0) groups.push(<Link to={jobsPath({ parent: id })}>{`${count(more)} more`}</Link>)
  return <p class="note foot">{groups.map((link, i) => [i > 0 && ', ', link])}</p>
}

function Family({ job, known }: RailProps) {
  const read = new Map(known.map((child) => [child.job.id, child.job.status]))
  const { id, parent, children, moreChildren = 0, status } = job
  // A parent's record shows running children as queued, so the link of queued children also finds running children.
  const isUnsure = Object.values(children).some(({ id, status }) => status === 'queued' && !read.has(id))
  const all = Object.entries(children)
    .map(([name, { id, class: of, status: recorded }]): Child => {
      const status = read.get(id) ?? recorded
      return { id, name, of, status, is: isUnsure && /queued|running/.test(status) ? 'queued,running' : status }
    })
    .sort((a, b) => rank(a) - rank(b) || compare(a.name, b.name))
  const related = all.length + moreChildren + Number(parent !== null)
  if (related === 0) return null
  return (
    <Card title="Related jobs" right={count(related + 1)}>
      <ul class="tree">
        {parent && (
          <li>
            <span class="dimmer">parent</span>
            <JobId id={parent.id} />
          </li>
        )}
        <li class={`${parent ? 'l1 ' : ''}me`}>
          <StatusMark status={status} />
          <span class="clip">
            <b>{job.class}</b> {parent && parent.name !== job.class && <span class="dimmer">{parent.name}</span>}
          </span>
          <span class="id">#{id}</span>
        </li>
        {moreChildren === 0 &&
          all.map(({ id, name, of, status }) => (
            <li class={parent ? 'l2' : 'l1'}>
              <StatusMark status={status} />
              <span class="clip">
                <To to={`/jobs/${id}`}>{name}</To> {of !== name && <span class="dimmer">{of}</span>}
              </span>
              <JobId id={id} />
            </li>
          ))}
      </ul>
      {all.length > FEW && <Summary id={id} all={all} more={moreChildren} />}
    </Card>
  )
}

function retriesOf(job: JobView): string | false {
  const { retry } = job
  if (retry?.max === undefined) return false
  return `${count(Math.min(failedRuns(job), retry.max))} of ${count(retry.max)}${backoffOf(retry)}`
}

function costOf(job: JobView): string | false {
  if (!job.cost?.runs) return false
  const { runs, total, took, commits, price, whole } = job.cost
  return [
    whole
      ? `${many(runs, 'run')}, ${span(took)}`
      : `${count(runs)} of ${atLeast(total, lacksFailedRuns(job, { length: runs }))} runs stored: ${span(took)}`,
    ...(commits === null ? [] : [many(commits, 'commit')]),
    ...(price === null ? [] : [`about ${money(price)}`]),
  ].join(', ')
}

const keptText = ({ status, keptUntil, retain }: JobView, zone: string): string => {
  if (keptUntil !== null) return `until ${dayOf(keptUntil, zone)}, ${hourOf(keptUntil, zone)}`
  if (status === 'failed' || status === 'terminated') return 'until it is deleted'
  return retain === null ? 'class default' : `${span(retain)} after it ends`
}

const Limits = ({ job: { group, limits, waitingAt } }: { job: JobView }) => (
  <span>
    {limits.slice(0, 4).map((key, i) => (
      <>
        {i > 0 && ', '}
        <NameLink kind="said" to={limitPath(key)} of={key === `group:${group}` ? 'its group' : key} most={30} />
        {key === waitingAt && ' (waits)'}
      </>
    ))}
  </span>
)

const mono = (text: string | null) => text && <Name of={text} most={30} kind="mono clip" />

function factsOf(job: JobView, zone: string): Fact[] {
  const { queue, class: of, labels, limits, callback, timeout, tag, unique, lockedUntil, run, version, pinnedTo } = job
  return [
    ['Worker', <NameLink kind="mono clip" to={workerPath(queue, of)} of={`${queue}/${of}`} most={30} />],
    ['Labels', Object.keys(labels).length > 0 && <LabelTags labels={labels} />],
    ['Limits', limits.length > 0 && <Limits job={job} />],
    ['Retries', retriesOf(job)],
    [
      'Run timeout',
      timeout !== null && !run?.process && `${span(timeout)}${run ? '' : ', or the lease of its pull worker'}`,
    ],
    ['Run by', run && runnerOf(run)],
    ['Version', mono(version)],
    ['Pinned to', mono(pinnedTo)],
    ['Callback', callback && (callback.state ? stateText(callback.state) : 'when the job ends')],
    ['Tag', mono(tag)],
    ['Unique until', unique?.until],
    ['Locked until', lockedUntil !== null && moment(lockedUntil, zone)],
    ['Cost', costOf(job)],
    ['Kept', keptText(job, zone)],
  ]
}

export function Rail({ job, known }: RailProps) {
  const { zone } = useLook()
  return (
    <aside class="stack rail" aria-label="Related jobs and details">
      <Family job={job} known={known} />
      <Card title="Details">
        <Facts of={factsOf(job, zone)} kind="body" />
      </Card>
    </aside>
  )
}
