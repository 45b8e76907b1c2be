// Callbacks: whom we tell of ends, how that goes, and telling them once more.

import type { CallbackView } from '../../engine/engine.ts'
import { queryWith, useLook } from '../look.ts'
import { type Act, type ActAsked, page } from '../page.ts'
import { Act as Button } from '../parts/act.tsx'
import { Card, Choice, Empty, Head, JobId, To } from '../parts/layout.tsx'
import { Ago } from '../parts/moment.tsx'
import { maybe } from '../words/form.ts'
import { count, many } from '../words/number.ts'
import { cut, title } from '../words/text.ts'

type State = CallbackView['state']
type CallbacksData = { callbacks: CallbackView[]; cursor: string | null; state?: State; host?: string }

const states: readonly State[] = ['PENDING', 'IN_PROGRESS', 'DELIVERED', 'FAILED']
const kinds: Record<State, string> = {
  PENDING: 'queued',
  IN_PROGRESS: 'running',
  DELIVERED: 'completed',
  FAILED: 'failed',
}
const MOST = 50
/** So many are sent again by one press. */
const AGAIN = 50

const hostOf = ({ url }: CallbackView): string => (URL.canParse(url) ? new URL(url).host : url)
const said = (state: State): string => title(state.toLowerCase().replace('_', ' '))

const again = (of: number | string, { call }: ActAsked) => call('POST', `/v1/callbacks/${of}/resend`, {})

const resend: Act = {
  scope: 'write',
  async confirm({ form, engine }) {
    const host = maybe(form, 'host')
    if (!host) return undefined
    const { callbacks } = await engine.callbacks({ state: 'FAILED', limit: AGAIN })
    const own = callbacks.filter((one) => hostOf(one) === host)
    return {
      title: `Send ${many(own.length, 'callback')} to ${host} again?`,
      text: ['The same bodies and ids, now: who has had one already knows it by its id.'],
      verb: `Send ${count(own.length)}`,
    }
  },
  async does(asked) {
    const host = maybe(asked.form, 'host')
    const job = maybe(asked.form, 'job')
    if (job) {
      await again(job, asked)
      return { say: `The callback of #${job} is sent again` }
    }
    const { callbacks } = await asked.engine.callbacks({ state: 'FAILED', limit: AGAIN })
    const own = callbacks.filter((one) => hostOf(one) === host)
    for (const { of } of own) await again(of, asked)
    return { say: `${many(own.length, 'callback')} to ${host} ${own.length === 1 ? 'is' : 'are'} sent again` }
  },
}

function Row({ callback }: { callback: CallbackView }) {
  const { of, url, state, attempts, lastError, nextAt, createdAt } = callback
  return (
    <tr>
      <td>
        <span class={`st ${kinds[state]}`}>{said(state)}</span>
      </td>
      <td>
        <JobId id={of} />
      </td>
      <td class="mono">{cut(url, 48)}</td>
      <td class="fill">{lastError}</td>
      <td class="num">{count(attempts)}</td>
      <td class="num">{nextAt === null ? <Ago at={createdAt} /> : <Ago at={nextAt} />}</td>
      <td class="num">
        {state === 'FAILED' && (
          <Button
            act="resend"
            scope="write"
            at="/callbacks"
            fields={{ job: of }}
            icon="retry"
            small
            label={`Send the callback of job ${of} again`}
          >
            Send again
          </Button>
        )}
      </td>
    </tr>
  )
}

function View({ data: { callbacks, cursor, state, host } }: { data: CallbacksData }) {
  const { here } = useLook()
  const search = here.includes('?') ? here.slice(here.indexOf('?')) : ''
  const to = (state?: string) => `/callbacks${queryWith(search, { state, cursor: undefined })}`
  return (
    <>
      <Head title="Callbacks" note={`${count(callbacks.length)} on this page${host ? `, to ${host}` : ''}`}>
        <Choice
          label="State"
          options={[
            { text: 'All', to: to(), on: !state },
            ...states.map((one) => ({ text: said(one), to: to(one), on: one === state })),
          ]}
        />
      </Head>
      <Card>
        {callbacks.length === 0 ? (
          <Empty
            act={
              state || host ? (
                <To kind="link" to="/callbacks">
                  Show all
                </To>
              ) : undefined
            }
          >
            No callback fits. A job with `callback` has one when it ends.
          </Empty>
        ) : (
          <table class="tbl">
            <caption class="vh">Callbacks</caption>
            <thead>
              <tr>
                {['State', 'Of', 'To', 'Last error'].map((head) => (
                  <th scope="col">{head}</th>
                ))}
                <th scope="col" class="num">
                  Tries
                </th>
                <th scope="col" class="num">
                  Next or made
                </th>
                <th scope="col">
                  <span class="vh">Acts</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {callbacks.map((callback) => (
                <Row callback={callback} />
              ))}
            </tbody>
          </table>
        )}
        {cursor && (
          <p class="further">
            <To kind="btn small" to={`/callbacks${queryWith(search, { cursor })}`}>
              Look further back
            </To>
          </p>
        )}
      </Card>
    </>
  )
}

export const callbacks = page<CallbacksData>({
  path: '/callbacks',
  nav: 'callbacks',
  every: 10_000,
  async load({ engine, query }) {
    const state = states.find((one) => one === query.get('state'))
    const host = query.get('host') ?? undefined
    const { callbacks, cursor } = await engine.callbacks({
      state,
      limit: MOST,
      ...(query.get('cursor') ? { cursor: query.get('cursor')! } : {}),
    })
    return { callbacks: host ? callbacks.filter((one) => hostOf(one) === host) : callbacks, cursor, state, host }
  },
  title: () => 'Callbacks',
  View,
  acts: { resend },
})
