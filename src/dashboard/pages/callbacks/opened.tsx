import { encodeValue } from '../../../core/codec/value.ts'
import { tryRead } from '../../../core/readable.ts'
import type { CallbackTry, CallbackView, OpenBreaker } from '../../../engine/engine.ts'
import type { Engine } from '../../../engine/index.ts'
import { useWay } from '../../look.ts'
import { Act as Button } from '../../parts/act.tsx'
import { type Fact, Facts } from '../../parts/facts.tsx'
import { Ago, Card, JobId, Link, Name } from '../../parts/layout.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { Json } from '../../parts/value-view.tsx'
import { callbacksPath } from '../../words/paths.ts'
import { count, hostName, plain, span, title } from '../../words/text.ts'
import { Shut } from '../limits/breakers.tsx'

type Near = Awaited<ReturnType<Engine['callbacks']['get']>>

export type State = CallbackView['state']

const kinds: Record<State, string> = {
  PENDING: 'queued',
  IN_PROGRESS: 'running',
  DELIVERED: 'completed',
  FAILED: 'failed',
}

export const stateText = (state: State): string => title(state.toLowerCase().replace('_', ' '))

export const StateOf = ({ state }: { state: State }) => <span class={`st ${kinds[state]}`}>{stateText(state)}</span>

export const Resend = ({ of: { of, state } }: { of: CallbackView }) =>
  (state === 'FAILED' || state === 'PENDING') && (
    <Button
      act="resend"
      scope="write"
      at="/callbacks"
      fields={{ job: of }}
      icon="retry"
      small
      label={`${state === 'FAILED' ? 'Resend' : 'Send now:'} the callback of job ${of}`}
    >
      {state === 'FAILED' ? 'Resend' : 'Send now'}
    </Button>
  )

export function NextTry({ callback: { state, nextAt } }: { callback: CallbackView }) {
  if (nextAt !== null) return <Ago at={nextAt} />
  if (state === 'PENDING') return 'as soon as a slot is free'
  return <span class="dimmer">{state === 'IN_PROGRESS' ? 'in progress' : 'none'}</span>
}

const tryColumns: readonly Column<CallbackTry & { isResent: boolean }>[] = [
  { head: 'Attempt', label: true, cell: ({ attempt, isResent }) => `${count(attempt)}${isResent ? ', resent' : ''}` },
  {
    head: 'Outcome',
    cell: ({ outcome }) => <span class={`st ${outcome === 'delivered' ? 'completed' : 'failed'}`}>{outcome}</span>,
  },
  {
    head: 'Response',
    kind: 'fill',
    cell: ({ answer, outcome, again }) => (
      <>
        {answer ?? (outcome === 'delivered' ? 'accepted' : 'no response')}
        {again && <span class="dim">, then retried</span>}
      </>
    ),
  },
  { head: '#Took', cell: ({ took }) => span(took) },
  { head: '#When', label: false, cell: ({ at }) => <Ago at={at} /> },
]

const isJson = (text: string): boolean => tryRead(() => JSON.parse(text)) !== undefined

function Sent({ sent }: { sent: Near['sent'] }) {
  if (!sent) return <p class="note foot">The request is no longer stored, or has an unknown format.</p>
  return (
    <div class="open">
      <div>
        <h3>Headers</h3>
        <Json value={encodeValue(sent.headers)} />
        <p class="note">Each attempt has a new webhook-timestamp and webhook-signature.</p>
      </div>
      <div>
        <h3>Body</h3>
        {isJson(sent.body) ? <Json value={sent.body} /> : <pre tabindex={0}>{plain(sent.body)}</pre>}
      </div>
    </div>
  )
}

export function Opened({ near, breakers }: { near: Near; breakers: readonly OpenBreaker[] }) {
  const { callback, tries, sent } = near
  const { host } = callback
  const { of, url, state, createdAt, endedAt, lastError } = callback
  const open = breakers.find((one) => one.host === host)
  const facts: Fact[] = [
    ['URL', <Name of={url} most={90} kind="mono" />],
    ['State', <StateOf state={state} />],
    ['Created', <Ago at={createdAt} />],
    ['Next attempt', <NextTry callback={callback} />],
    [
      'Host',
      <span>
        {host && <Link to={callbacksPath({ host })}>{hostName(host)}</Link>}{' '}
        {open ? <Shut of={open} /> : 'called normally: its circuit breaker is closed'}
      </span>,
    ],
    ['Last error', lastError && plain(lastError)],
  ]
  return (
    <Card
      title={
        <>
          The callback of <JobId id={of} />
        </>
      }
      kind={endedAt === null ? 'change soon' : 'change'}
      id="tries"
      right={
        <>
          <Resend of={callback} />
          <Link to={useWay()({ open: undefined })}>Close</Link>
        </>
      }
    >
      <Facts of={facts} kind="left" />
      <DataTable
        caption={`Attempts of the callback of job ${of}, newest first`}
        empty="No attempts yet."
        rows={tries.map((one, i) => ({ ...one, isResent: one.attempt === 1 && tries[i + 1]?.outcome === 'failed' }))}
        columns={tryColumns}
        kind="lined"
      />
      <Sent sent={sent} />
    </Card>
  )
}
