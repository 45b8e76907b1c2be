import { missing } from '../../../core/errors.ts'
import type { Health, JobView, QueueView } from '../../../engine/engine.ts'
import type { Asked } from '../../page.ts'
import { Act, LinkButton } from '../../parts/act.tsx'
import { Card, Icon, JobId, Link, StatusPill, To } from '../../parts/layout.tsx'
import { OWN_CLASS, Snippet } from '../../parts/snippet.tsx'
import { many } from '../../words/text.ts'
import { Check } from '../doctor.tsx'
import { GROUP } from './acts.ts'

export type FirstMinuteData = {
  job?: JobView
  own?: JobView
  demo: { open: number; all: number }
  classes: number
  queues: number
  problem?: string
  url: string
}

/** The second command reads from this alias. */
const OWN = 'first-job'

export async function firstMinuteOf(
  { engine, query, deps }: Asked,
  health: Health,
  queues: QueueView[],
): Promise<FirstMinuteData> {
  const made = query.get('first')
  const isJob = made !== null && /^\d{1,15}$/.test(made)
  const [{ workers }, { jobs }, own, job] = await Promise.all([
    engine.workers.list(),
    engine.jobs.list({ group: GROUP, limit: 100 }),
    engine.jobs.get(OWN).catch(missing),
    isJob ? engine.jobs.get(made).catch(missing) : undefined,
  ])
  return {
    job,
    own,
    demo: { all: jobs.length, open: jobs.filter(({ status }) => status === 'queued' || status === 'running').length },
    classes: workers.length,
    queues: new Set([...workers.map(({ queue }) => queue), ...queues.map(({ name }) => name)]).size,
    problem: health.problems?.find(({ of }) => of === 'qstash')?.message,
    url: deps.publicUrl,
  }
}

function Commands({ data: { url, own } }: { data: FirstMinuteData }) {
  const key = '-H "Authorization: Bearer $SIDEJOB_KEY"'
  return (
    <ol class="steps">
      <li class={own ? 'done' : ''}>
        <Snippet
          title="Create a job"
          text={`curl --json '{ "queue": "core", "class": "split",\n  "alias": ["${OWN}"], "inputs": { "in": ["to,be,or,not"] } }' \\\n  ${key} \\\n  ${url}/v1/jobs`}
          out={own && `{ "id": ${own.id}, "status": "${own.status}" }`}
        />
      </li>
      <li>
        <Snippet
          title="Read its output"
          text={`curl --json '{}' \\\n  ${key} \\\n  ${url}/v1/jobs/${OWN}/out/out/read`}
        />
      </li>
      <li>
        <Snippet
          title="Repeat it every minute"
          text={`curl --json '{ "queue": "core", "class": "split",\n  "repeat": { "cron": "* * * * *" } }' \\\n  ${key} \\\n  ${url}/v1/schedules`}
        />
      </li>
      <li class="plain">
        <Snippet title="Write your own worker" note="10 lines" text={OWN_CLASS} />
      </li>
    </ol>
  )
}

function Now({ data: { job, demo } }: { data: FirstMinuteData }) {
  return (
    <Card title="Latest job">
      <div class="now">
        {job ? (
          <div class="nowjob">
            <span class="row">
              <To to={`/jobs/${job.id}`}>
                <b>{job.class}</b>
              </To>
              <JobId id={job.id} />
            </span>
            <StatusPill status={job.status} />
          </div>
        ) : (
          <p class="note">No jobs yet. Your first job appears here.</p>
        )}
        {demo.all > 0 && (
          <p class="note">
            {many(demo.all - demo.open, 'job')} of the demo {demo.all - demo.open === 1 ? 'has' : 'have'} ended,{' '}
            {demo.open} remain. <Link to={`/jobs?group=${GROUP}`}>See them</Link>
          </p>
        )}
      </div>
    </Card>
  )
}

const thens: [icon: string, text: string, to: string][] = [
  ['flows', 'Wire jobs into a flow and watch it', '/workers/core/flow'],
  ['schedules', 'Run a job every night', '/schedules'],
  ['limits', 'Run at most four jobs at once', '/limits'],
  ['term', 'Write a worker in Python', '/workers'],
  ['keys', 'Create a read-only key', '/settings/keys'],
]

export function FirstMinute({ data }: { data: FirstMinuteData }) {
  return (
    <div class="first">
      <h1>Get started</h1>
      <p>Run the demo, or copy the three commands below. They read your API key from SIDEJOB_KEY.</p>
      <div class="go">
        <Act act="demo" scope="write" icon="play" kind="primary">
          Run the demo
        </Act>
        <LinkButton to="/workers/core/split" icon="workers">
          Try a worker in a form
        </LinkButton>
        {data.demo.all > 0 && (
          <Act act="undemo" scope="admin">
            Remove the demo
          </Act>
        )}
        <span class="note">
          The demo creates a flow and 24 jobs in the group <b>{GROUP}</b>. “Remove the demo” deletes all of them.
        </span>
      </div>
      <div class="firstcols">
        <Commands data={data} />
        <div class="stack">
          <Now data={data} />
          <Card title="Status">
            <ul class="checks">
              <Check ok={!data.problem} text="Bells">
                {data.problem ?? 'QStash accepts them'}
              </Check>
              <Check ok text="Workers">
                <Link to="/workers">{`${many(data.classes, 'class', 'classes')} in ${many(data.queues, 'queue')}`}</Link>
              </Check>
            </ul>
          </Card>
          <Card title="Next steps">
            <ul class="checks next">
              {thens.map(([icon, text, to]) => (
                <li>
                  <Icon name={icon} size={14} />
                  <To to={to}>{text}</To>
                </li>
              ))}
            </ul>
          </Card>
        </div>
      </div>
    </div>
  )
}
