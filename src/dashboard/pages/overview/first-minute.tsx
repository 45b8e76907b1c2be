import { missing } from '../../../core/errors.ts'
import type { JobView } from '../../../engine/engine.ts'
import { askCounted, startCounted } from '../../counted.ts'
import { useLook } from '../../look.ts'
import type { Act, Asked } from '../../page.ts'
import { Act as Button, LinkButton } from '../../parts/act.tsx'
import { Card, Icon, Link, To } from '../../parts/layout.tsx'
import { OWN_CLASS, Snippet } from '../../parts/snippet.tsx'
import { sampleGraph } from '../../words/flow.ts'
import { jobLink } from '../../words/paths.ts'
import { many } from '../../words/text.ts'

const GROUP = 'demo'
const JOBS = 24

const group = { id: GROUP }

const flow = { queue: 'core', class: 'flow', group, inputs: { __graph: [sampleGraph] } }

const single = (n: number) => ({ queue: 'core', class: 'split', group, inputs: { in: [`job ${n},of,the,demo`] } })

export const demo: Record<string, Act> = {
  demo: {
    scope: 'write',
    async does({ call }) {
      const jobs = [flow, ...Array.from({ length: JOBS }, (_, i) => single(i + 1))]
      const { jobs: made } = await call<{ jobs: { id: number }[] }>('POST', '/v1/jobs', jobs)
      const { id } = made[0]!
      return { say: `A flow and ${JOBS} jobs were created`, to: `/?first=${id}`, link: jobLink(id) }
    },
  },
  undemo: {
    scope: 'admin',
    confirm: (asked) =>
      askCounted(asked, {
        of: { filter: { group: GROUP }, action: 'delete' },
        verb: 'Delete',
        what: ' of the demo',
        text: [`This terminates and deletes all jobs of the group "${GROUP}", and cannot be undone.`],
        isTyped: true,
      }),
    async does(asked) {
      await startCounted(asked, 'terminate')
      const id = await startCounted(asked, 'delete')
      return { say: 'The demo is being removed', to: '/', link: jobLink(id) }
    },
  },
}

type FirstMinuteData = { flow?: string; own?: JobView; demo: { open: number; all: number } }

const OWN = 'first-job'

export async function firstMinuteOf({ engine, query }: Asked): Promise<FirstMinuteData> {
  const [{ jobs }, own] = await Promise.all([
    engine.jobs.list({ group: GROUP, limit: 100 }),
    engine.jobs.get(OWN).catch(missing),
  ])
  return {
    flow: /^\d{1,15}$/.exec(query.get('first') ?? '')?.[0],
    own,
    demo: { all: jobs.length, open: jobs.filter(({ status }) => status === 'queued' || status === 'running').length },
  }
}

function Commands({ own }: Pick<FirstMinuteData, 'own'>) {
  const { url, tenant } = useLook()
  const key = tenant === undefined ? '$(npx sidejob key)' : "'your API key'"
  const curl = (body: string, path: string) =>
    `curl --json '${body}' \\\n  -H "Authorization: Bearer $SIDEJOB_KEY" \\\n  ${url}/v1/${path}`
  return (
    <ol class="steps">
      <li>
        <Snippet title="Set your API key" text={`export SIDEJOB_KEY=${key}`} />
      </li>
      <li class={own ? 'done' : ''}>
        <Snippet
          title="Create a job"
          text={curl(
            `{ "queue": "core", "class": "split",\n  "alias": ["${OWN}"], "inputs": { "in": ["to,be,or,not"] } }`,
            'jobs',
          )}
          out={own && `{ "id": ${own.id}, "status": "${own.status}" }`}
        />
      </li>
      <li>
        <Snippet title="Read its output" text={curl('{}', `jobs/${OWN}/out/out/read`)} />
      </li>
      <li>
        <Snippet
          title="Repeat it every minute"
          text={curl('{ "queue": "core", "class": "split",\n  "repeat": { "cron": "* * * * *" } }', 'schedules')}
        />
      </li>
      {tenant === undefined && (
        <li class="plain">
          <Snippet title="Write your own worker" text={OWN_CLASS} />
        </li>
      )}
    </ol>
  )
}

function Demo({ data: { flow, demo } }: { data: FirstMinuteData }) {
  if (demo.all === 0)
    return (
      <span class="note">
        The demo creates a flow and 24 jobs in the group <b>{GROUP}</b>. You can remove all of them with one click.
      </span>
    )
  const ended = demo.all - demo.open
  return (
    <>
      <Button act="undemo" scope="admin">
        Remove the demo
      </Button>
      <span class="note">
        {many(ended, 'job')} of the demo {ended === 1 ? 'has' : 'have'} ended, {demo.open} remain.{' '}
        {flow && <Link to={`/flows/${flow}`}>Open its flow</Link>} <Link to={`/jobs?group=${GROUP}`}>See its jobs</Link>
      </span>
    </>
  )
}

const thens: [icon: string, text: string, to: string][] = [
  ['flows', 'Wire jobs into a flow and watch it', '/workers/core/flow'],
  ['schedules', 'Run a job every night', '/schedules'],
  ['limits', 'Limit how many jobs run at once', '/limits'],
  ['term', 'Register a worker in any language', '/workers?register'],
  ['keys', 'Create a read-only key', '/settings/keys'],
]

export function FirstMinute({ data }: { data: FirstMinuteData }) {
  return (
    <div class="first">
      <h1>Get started</h1>
      <p>Run the demo, or copy the commands below.</p>
      <div class="go">
        <Button act="demo" scope="write" icon="play" kind="primary">
          Run the demo
        </Button>
        <LinkButton to="/workers/core/split" icon="workers">
          Try a worker in a form
        </LinkButton>
        <Demo data={data} />
      </div>
      <div class="firstcols">
        <Commands own={data.own} />
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
  )
}
