import type { Child } from 'hono/jsx'
import { lacksFailedRuns } from '../../../core/cost.ts'
import { ended } from '../../../core/job.ts'
import type { PastRun } from '../../../core/run.ts'
import type { JobView, Reason } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { Act, LinkButton, More } from '../../parts/act.tsx'
import { Form } from '../../parts/form.tsx'
import { Ago, Name, NameLink, StatusPill } from '../../parts/layout.tsx'
import { groupPath, isFlow, queuePath } from '../../words/paths.ts'
import { atLeast, count, cut } from '../../words/text.ts'
import { pillOf } from '../../words/why.ts'

export const runsOf = (job: JobView, runs: readonly PastRun[]): string =>
  atLeast((job.cost?.total ?? 0) + Number(job.status === 'running'), lacksFailedRuns(job, runs))

function runsText(job: JobView, runs: readonly PastRun[]): string {
  const all = runsOf(job, runs)
  const ended = (as: string) => runs.filter(({ outcome }) => outcome === as).length
  const failed = atLeast(ended('failed'), lacksFailedRuns(job, runs) && ended('failed') > 0)
  const lost = Math.max(job.lost, ended('lost'))
  const [every, ofOne] = [`${all} ${all === '1' ? 'run' : 'runs'}`, all === '1' ? '' : `${failed} `]
  return [every, failed !== '0' && `${ofOne}failed`, lost > 0 && `${count(lost)} lost`].filter(Boolean).join(', ')
}

const Fact = ({ name, children }: { name: string; children: Child }) => (
  <span>
    <span class="kk">{name}</span> {children}
  </span>
)

function Facts({ job, runs }: { job: JobView; runs: readonly PastRun[] }) {
  const { aliases, queue, group, priority, createdAt, createdBy } = job
  return (
    <p class="facts">
      {aliases.slice(0, 3).map((alias) => (
        <Fact name="alias">
          <Name of={alias} />
        </Fact>
      ))}
      <Fact name="queue">
        <NameLink to={queuePath(queue)} of={queue} />
      </Fact>
      {group && (
        <Fact name="group">
          <NameLink to={groupPath(group)} of={group} />
        </Fact>
      )}
      <Fact name="priority">{count(priority)}</Fact>
      <span>{runsText(job, runs)}</span>
      <Fact name="created">
        <Ago at={createdAt} />
        {createdBy && ` by ${cut(createdBy)}`}
      </Fact>
    </p>
  )
}

function Others({ job, isStuck }: Pick<HeadProps, 'job' | 'isStuck'>) {
  const { id, status, priority } = job
  const { base } = useLook()
  return (
    <More label="More">
      {isStuck && (
        <Act act="run" scope="write">
          Run once more after this run
        </Act>
      )}
      {!ended.has(status) && (
        <Act act="cancel" scope="write" kind="danger">
          Cancel job: end it without a shutdown run
        </Act>
      )}
      {status !== 'failed' && (
        <LinkButton to={`/jobs/new?from=${id}`} scope="write" only="phone">
          Duplicate
        </LinkButton>
      )}
      {job.history > 0 && Object.keys(job.in).length > 0 && (
        <Act act="again" scope="write">
          Duplicate with the inputs of the last run
        </Act>
      )}
      <Form act="priority" scope="write" press="Set" kind="row" button="small">
        <label>
          Priority (smaller numbers run first)
          <input class="field" name="priority" type="number" value={String(priority)} />
        </label>
      </Form>
      <a class="btn" href={`${base}/v1/jobs/${id}`} download={`job-${id}.json`}>
        Export
      </a>
      <Act act="remove" scope={status === 'terminated' ? 'write' : 'admin'} kind="danger">
        Delete
      </Act>
    </More>
  )
}

type HeadProps = { job: JobView; runs: readonly PastRun[]; reason?: Reason; isStuck?: boolean }

export function Head({ job, runs, reason, isStuck }: HeadProps) {
  const { id, status, endedAt } = job
  const look = useLook()
  const [act, icon, verb] =
    status === 'failed'
      ? ['retry', 'retry', 'Retry']
      : isStuck
        ? ['requeue', 'retry', 'Run again']
        : ['run', 'play', 'Run now']
  return (
    <div class="jobhead" data-job={id} data-status={status} data-ended={ended.has(status) ? endedAt : undefined}>
      <span class="neighbours" id="neighbours" data-island data-job={id} />
      <div class="grow">
        <h1>
          <Name of={job.class} most={60} /> <span class="id">#{id}</span>{' '}
          <StatusPill status={status} big>
            {status === 'queued' ? pillOf(reason, look) : undefined}
          </StatusPill>
        </h1>
        <Facts job={job} runs={runs} />
      </div>
      <div class="right">
        {isFlow(job) && (
          <LinkButton to={`/flows/${id}`} icon="flows" kind="primary">
            Open graph
          </LinkButton>
        )}
        <Act
          act={act}
          scope={isStuck ? 'admin' : 'write'}
          icon={icon}
          kind={status === 'failed' && !isFlow(job) ? 'primary' : undefined}
          hotkey="r"
        >
          {verb}
        </Act>
        <LinkButton
          to={`/jobs/new?from=${id}`}
          scope="write"
          icon="copy"
          hotkey="e"
          only={status === 'failed' ? undefined : 'wide'}
        >
          Duplicate
        </LinkButton>
        {!ended.has(status) && status !== 'terminating' && (
          <Act act="terminate" scope="write" icon="stop" kind="danger" hotkey="x">
            Terminate
          </Act>
        )}
        <Others job={job} isStuck={isStuck} />
      </div>
    </div>
  )
}
