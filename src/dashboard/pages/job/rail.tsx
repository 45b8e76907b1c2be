// The rail of a job: its family, and facts.

import { groupIdOf } from '../../../core/constraint.ts'
import type { JobView } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { StatusMark } from '../../parts/icon.tsx'
import { Card, JobId, To } from '../../parts/layout.tsx'
import { Name } from '../../parts/name.tsx'
import { wayToLimit } from '../../words/limit.ts'
import { count, many, money } from '../../words/number.ts'
import { statusOrder, title } from '../../words/text.ts'
import { moment, span } from '../../words/time.ts'
import type { Family as Known } from '../../words/timeline.ts'

type RailProps = { job: JobView; known: Known }

/** So many children are listed; of more it is told how many have which status, each a link to those. */
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
            <To kind="link" to={`/jobs?parent=${id}&status=${status}`}>
              {`${count(known.get(status)!.length)} ${status}`}
            </To>
          </li>
        ))}
      <li class="l1">
        <To kind="link" to={`/jobs?parent=${id}`}>
          {moreChildren > 0 ? `${count(moreChildren)} more` : 'All of them'}
        </To>
      </li>
    </>
  )
}

/** `known`: children that were read themselves: what a parent has of them says nothing of their runs. */
function Family({ job, known }: RailProps) {
  const read = new Map(known.map((child) => [child.job.id, child.job.status]))
  const { id, parent, children, moreChildren = 0, status } = job
  const all = Object.entries(children)
  const isCounted = all.length + moreChildren > CHILDREN
  return (
    <Card title="Family" right={count(all.length + moreChildren + (parent ? 2 : 1))}>
      <ul class="tree">
        {parent && (
          <li>
            <span class="dimmer">parent</span>
            <To to={`/jobs/${parent.id}`}>
              <Name of={parent.name} most={20} />
            </To>
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

/** What was asked of its tries. */
const triesOf = ({ retry, attempt }: JobView): string => {
  const most = retry?.max === undefined ? '' : ` of ${count(retry.max + 1)}`
  const base = retry?.backoff?.base
  return `${count(attempt)}${most}${base === undefined ? '' : `, ${span(base)} × ${retry?.backoff?.factor ?? 2}`}`
}

/** What its runs have cost, once there was one. */
function Cost({ job: { cost } }: { job: JobView }) {
  if (!cost || cost.runs === 0) return null
  return (
    <>
      <dt>Cost</dt>
      <dd>
        {!cost.whole && 'the last '}
        {many(cost.runs, 'run')}, {span(cost.took)}
        {cost.commits !== null && `, ${many(cost.commits, 'commit')}`}
        {cost.price !== null && `, about ${money(cost.price)}`}
      </dd>
    </>
  )
}

function Facts({ job }: { job: JobView }) {
  const { zone } = useLook()
  const { queue, group, limits, waitingAt, callback, timeout, keptUntil, retain, tag, unique, lockedUntil, run } = job
  const worker = `${queue}/${job.class}`
  return (
    <Card title="Facts">
      <div class="body">
        <dl class="kv">
          <dt>Worker</dt>
          <dd>
            <To kind="mono clip" to={`/workers/${encodeURIComponent(queue)}/${encodeURIComponent(job.class)}`}>
              <Name of={worker} most={30} />
            </To>
          </dd>
          {group && (
            <>
              <dt>Group</dt>
              <dd>
                <To kind="clip" to={`/groups/${encodeURIComponent(group)}`}>
                  <Name of={group} most={30} />
                </To>
              </dd>
            </>
          )}
          {limits.length > 0 && (
            <>
              <dt>Limits</dt>
              <dd>
                <span class="clip">
                  {limits.slice(0, 4).map((key) => (
                    <>
                      <To to={wayToLimit(key)}>
                        <Name of={groupIdOf(key) ?? key} most={24} />
                      </To>
                      {key === waitingAt && ' (waits)'}{' '}
                    </>
                  ))}
                </span>
              </dd>
            </>
          )}
          <dt>Tries</dt>
          <dd>{triesOf(job)}</dd>
          {timeout !== null && (
            <>
              <dt>Time for a run</dt>
              <dd>{span(timeout)}</dd>
            </>
          )}
          {run && (
            <>
              <dt>Run by</dt>
              <dd>{run.process ?? (run.lane ? `lane ${run.lane}` : '–')}</dd>
            </>
          )}
          {callback && (
            <>
              <dt>Callback</dt>
              <dd>{callback.state ? title(callback.state.toLowerCase().replace('_', ' ')) : 'at its end'}</dd>
            </>
          )}
          {tag && (
            <>
              <dt>Tag</dt>
              <dd class="mono">
                <Name of={tag} most={24} />
              </dd>
            </>
          )}
          {unique && (
            <>
              <dt>Unique until</dt>
              <dd>{unique.until}</dd>
            </>
          )}
          {lockedUntil !== null && (
            <>
              <dt>Locked until</dt>
              <dd>{moment(lockedUntil, zone)}</dd>
            </>
          )}
          <Cost job={job} />
          <dt>Kept</dt>
          <dd>
            {keptUntil !== null
              ? `until ${moment(keptUntil, zone)}`
              : retain === null
                ? 'as its worker says'
                : `${span(retain)} after its end`}
          </dd>
        </dl>
      </div>
    </Card>
  )
}

export function Rail({ job, known }: RailProps) {
  return (
    <aside class="stack rail" aria-label="Family and facts">
      <Family job={job} known={known} />
      <Facts job={job} />
    </aside>
  )
}
