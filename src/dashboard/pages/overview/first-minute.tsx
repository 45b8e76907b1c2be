import { missing } from '../../../core/errors.ts'
import type { PastRun } from '../../../core/run.ts'
import type { Health, JobView, QueueView } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import type { Asked } from '../../page.ts'
import { Act, LinkButton } from '../../parts/act.tsx'
import { Card, Icon, JobId, Link, StatusPill, To } from '../../parts/layout.tsx'
import { OWN_CLASS, Snippet } from '../../parts/snippet.tsx'
import { many, span } from '../../words/text.ts'
import { Check } from '../doctor.tsx'
import { GROUP } from './acts.ts'

export type FirstMinuteData = {
  job?: JobView
  own?: JobView
  runs: PastRun[]
  demo: { open: number; all: number }
  classes: number
  queues: number
  ms?: number
  bells: string
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
  const [{ workers }, { jobs }, own, job, past] = await Promise.all([
    engine.workers.list(),
    engine.jobs.list({ group: GROUP, limit: 100 }),
    engine.jobs.get(OWN).catch(missing),
    isJob ? engine.jobs.get(made).catch(missing) : undefined,
    isJob ? engine.jobs.runs(made).catch(missing) : undefined,
  ])
  const problem = health.problems?.find(({ of }) => of === 'qstash')
  return {
    job,
    own,
    runs: past?.runs ?? [],
    demo: { all: jobs.length, open: jobs.filter(({ status }) => status === 'queued' || status === 'running').length },
    classes: workers.length,
    queues: new Set([...workers.map(({ queue }) => queue), ...queues.map(({ name }) => name)]).size,
    ms: health.ms,
    bells: problem ? problem.message : 'QStash accepts them',
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

type Moment = { text: string; at: number; kind: string }

function momentsOf(job: JobView, runs: readonly PastRun[]): Moment[] {
  const run = runs[0]
  return [
    { text: 'made', at: job.createdAt, kind: 'queued' },
    ...(run
      ? [
          { text: 'claimed', at: run.startedAt, kind: 'running' },
          { text: 'committed', at: run.endedAt, kind: 'running' },
        ]
      : []),
    ...(job.endedAt === null ? [] : [{ text: job.status, at: job.endedAt, kind: job.status }]),
  ]
}

const at = (i: number, of: number): string => `${6 + (88 * i) / Math.max(1, of - 1)}%`

function Life({ job, runs }: { job: JobView; runs: readonly PastRun[] }) {
  const moments = momentsOf(job, runs)
  const said = moments.map(({ text, at }) => `${text} after ${span(at - job.createdAt)}`).join(', ')
  return (
    <svg class="life" width="100%" height="74" role="img" aria-label={said}>
      <line class="s-line2" x1="6%" x2="94%" y1="24" y2="24" />
      {moments.map(({ text, at: moment, kind }, i) => (
        <>
          <circle class={`f-${kind} s-surface`} cx={at(i, 4)} cy="24" r="6" stroke-width="3" />
          {[text, span(moment - job.createdAt)].map((said, line) => (
            <text
              class={`t11${line === 0 ? ' t-ink2' : ''} ${i === 3 ? 'end' : 'mid'}`}
              x={i === 3 ? '97%' : at(i, 4)}
              y={49 + 16 * line}
            >
              {said}
            </text>
          ))}
        </>
      ))}
    </svg>
  )
}

function Now({ data: { job, runs, demo } }: { data: FirstMinuteData }) {
  return (
    <Card title="Latest job">
      <div class="now">
        {job ? (
          <>
            <div class="nowjob">
              <span class="row">
                <To to={`/jobs/${job.id}`}>
                  <b>{job.class}</b>
                </To>
                <JobId id={job.id} />
              </span>
              <StatusPill status={job.status} />
            </div>
            <Life job={job} runs={runs} />
          </>
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
  const { who } = useLook()
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
              <Check ok text="Redis is up">
                {data.ms === undefined ? 'yes' : span(data.ms)}
              </Check>
              <Check ok text="Bells">
                {data.bells}
              </Check>
              <Check ok text="Workers">
                <Link to="/workers">{`${many(data.classes, 'class', 'classes')} in ${many(data.queues, 'queue')}`}</Link>
              </Check>
              <Check ok text="Your key">{`${who.name}: ${who.scopes.join(', ')}`}</Check>
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
