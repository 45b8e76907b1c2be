import { codeChangeIn } from '../../../core/code-change.ts'
import type { Encoded } from '../../../core/codec/value.ts'
import { missing } from '../../../core/errors.ts'
import type { PastRun } from '../../../core/run.ts'
import type { KeptWait } from '../../../core/schemas.ts'
import type { JobView } from '../../../engine/engine.ts'
import type { Engine } from '../../../engine/index.ts'
import { useLook, useWay } from '../../look.ts'
import type { Asked } from '../../page.ts'
import { Form } from '../../parts/form.tsx'
import { Ago, Empty, Link, Name } from '../../parts/layout.tsx'
import { LogLines, Tail } from '../../parts/log.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { Json } from '../../parts/value-view.tsx'
import { shownJson } from '../../words/json.ts'
import { atLeast, bytes, moment, span, title } from '../../words/text.ts'
import { runsOf } from './head.tsx'
import { Runs } from './runs.tsx'

const tabs = ['log', 'state', 'runs', 'steps'] as const
type Tab = (typeof tabs)[number]
const hotkeys: Partial<Record<Tab, string>> = { log: 'l', state: 's', runs: 'f' }

export const FIRST_TAB: Tab = 'log'
export const isTab = (name: string): name is Tab => (tabs as readonly string[]).includes(name)

type TabData = Awaited<ReturnType<typeof tabOf>>

const LINES = 50

/** Loads state and runs only if their tab is open, because they cost commands. `run` is null if it is not stored. */
export async function tabOf({ engine, params, query }: Asked, name: Tab, until?: number) {
  const job = params.job!
  const run = name === 'runs' ? query.get('run') : null
  const [{ entries }, state, opened] = await Promise.all([
    engine.log.read({ job, limit: LINES + 1, until }),
    name === 'state' ? engine.jobs.state(job) : undefined,
    run === null ? undefined : engine.jobs.pastRun(job, Number(run)).catch(missing),
  ])
  return {
    name,
    log: entries.slice(0, LINES),
    isCut: entries.length > LINES,
    state,
    run: run === null ? undefined : (opened ?? null),
  }
}

type KeptSteps = Awaited<ReturnType<typeof stepsOf>>

export async function stepsOf({ jobs }: Engine, job: string) {
  const { steps, waits, ...found } = await jobs.steps(job)
  const all: KeptWait[] = [...steps.map((step) => ({ ...step, kind: 'step' })), ...waits]
  return { ...found, steps: all.sort((a, b) => (a.at ?? 0) - (b.at ?? 0)) }
}
type Props = { job: JobView; runs: readonly PastRun[]; steps: KeptSteps; tab: TabData; tail: boolean; at?: number }

function numberOf(name: Tab, { job, runs, tab, steps: { steps, cursor } }: Props): string | undefined {
  if (name === 'log') return atLeast(tab.log.length, tab.isCut)
  if (name === 'runs') return runsOf(job, runs)
  return name === 'steps' && steps.length > 0 ? atLeast(steps.length, cursor !== null) : undefined
}

function StateForm() {
  return (
    <Form act="state" scope="write" press="Merge" button="small">
      <div class="cronf">
        <label>
          Field
          <input class="field mono" name="field" required />
        </label>
        <label>
          Value, as JSON
          <input class="field mono" name="value" required spellcheck={false} />
        </label>
      </div>
    </Form>
  )
}

function State({ state = {} }: { state?: Record<string, Encoded> }) {
  const names = Object.keys(state)
  const json = `{${names.map((name) => `${JSON.stringify(name)}:${shownJson(state[name]!)}`).join(',')}}` as Encoded
  return (
    <>
      {names.length === 0 ? <Empty>The job has no state.</Empty> : <Json value={json} />}
      <details class="foot">
        <summary class="link">Edit</summary>
        <StateForm />
      </details>
    </>
  )
}

function Body(props: Props) {
  const { job, runs, tab } = props
  if (tab.name === 'state') return <State state={tab.state} />
  if (tab.name === 'runs') return <Runs job={job} runs={runs} open={tab.run} />
  if (tab.name === 'steps') return <Steps job={job} found={props.steps} />
  return (
    <>
      {props.at !== undefined && <Until at={props.at} />}
      <LogLines entries={tab.log} of={String(job.id)} />
    </>
  )
}

function Until({ at }: { at: number }) {
  const { zone } = useLook()
  const way = useWay()
  return (
    <p class="note body">
      Entries until {moment(at, zone)}. <Link to={`${way({ at: undefined })}#tabs`}>Show all</Link>
    </p>
  )
}

const stepColumns: readonly Column<KeptSteps['steps'][number]>[] = [
  { head: 'Step', kind: 'fill mono', title: ({ name }) => name, cell: ({ name }) => <Name of={name} most={60} /> },
  { head: 'Completed', cell: ({ at }) => (at === null ? '–' : <Ago at={at} />) },
  { head: '#Took', cell: ({ took }) => (took === null ? '–' : span(took)) },
  { head: '#Keeps', cell: ({ bytes: size }) => bytes(size) },
]

function Steps({ job, found: { steps, patches, cursor } }: { job: JobView; found: KeptSteps }) {
  const change = codeChangeIn(job.error)
  const reported = change && <p class="note body bad">{change.message}</p>
  const isEmpty = steps.length === 0 && patches.length === 0
  if (isEmpty && change) return reported
  if (isEmpty) return <Empty>No steps are stored.</Empty>
  return (
    <>
      {reported}
      {steps.length > 0 && (
        <DataTable caption="Completed steps and waits, in order" rows={steps} columns={stepColumns} />
      )}
      {patches.length > 0 && (
        <p class="note body">
          Patches: {patches.map(({ name, patched }) => `${name} (${patched ? 'new' : 'old'} path)`).join(', ')}.
        </p>
      )}
      {cursor !== null && <p class="note body">GET /v1/jobs/:job/steps lists all steps.</p>}
    </>
  )
}

export function Tabs(props: Props) {
  const { base } = useLook()
  const way = useWay()
  return (
    <section class="card" id="tabs">
      <header>
        <nav class="tabs" aria-label="Data of the job">
          {tabs.map((name) => {
            const n = numberOf(name, props)
            return (
              <a
                href={`${base}${way({ tab: name === FIRST_TAB ? undefined : name, run: undefined })}#tabs`}
                aria-current={props.tab.name === name ? 'page' : undefined}
                data-hotkey={hotkeys[name]}
              >
                {title(name)}{' '}
                <span class="n" title={n?.endsWith('+') ? 'Counts only the newest' : undefined}>
                  {n}
                </span>
                {hotkeys[name] && <kbd>{hotkeys[name]}</kbd>}
              </a>
            )
          })}
        </nav>
        {props.tab.name === 'log' && (
          <span class="right">
            <Tail on={props.tail} to={way({ tail: props.tail ? undefined : '1' })} />
          </span>
        )}
      </header>
      <Body {...props} />
    </section>
  )
}
