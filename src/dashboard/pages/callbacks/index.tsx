import { missing } from '../../../core/errors.ts'
import type { CallbackView } from '../../../engine/engine.ts'
import { asset as style } from '../../built/limits-css.generated.ts'
import { actOnEach, countedIds } from '../../counted.ts'
import { useWay } from '../../look.ts'
import { type Act, type Asked, page } from '../../page.ts'
import { Act as Button } from '../../parts/act.tsx'
import { Further } from '../../parts/further.tsx'
import { Ago, Card, Choice, Empty, Head, JobId, Link, NameLink } from '../../parts/layout.tsx'
import { First } from '../../parts/snippet.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { searchOn } from '../../search-on.ts'
import { given, maybe } from '../../words/form.ts'
import { rowsText } from '../../words/further.ts'
import { idsText } from '../../words/ids.ts'
import { count, hostName, many } from '../../words/text.ts'
import { Breakers } from '../limits/breakers.tsx'
import { NextTry, Opened, Resend, type State, StateOf, stateText } from './opened.tsx'

type CallbacksData = Awaited<ReturnType<typeof load>>

const states: readonly State[] = ['PENDING', 'IN_PROGRESS', 'DELIVERED', 'FAILED']
const MOST = 50
const COUNTED = 10_000
const AGAIN = 50

const found = (asked: Asked, filter: { state?: State; host?: string; cursor?: string }, limit = MOST) =>
  searchOn<CallbackView>(asked, {
    name: JSON.stringify(['callbacks', filter, limit]),
    limit,
    cursor: filter.cursor,
    idOf: ({ job }) => job,
    async step(cursor) {
      const { callbacks, ...more } = await asked.engine.callbacks.list({ ...filter, cursor, limit })
      return { rows: callbacks, ...more }
    },
  })

async function failedTo(asked: Asked, host: string): Promise<{ jobs: number[]; more: boolean }> {
  const { rows, cursor } = await found(asked, { state: 'FAILED', host }, AGAIN + 1)
  return { jobs: rows.slice(0, AGAIN).map(({ of }) => of), more: rows.length > AGAIN || cursor !== null }
}

const resend: Act = {
  scope: 'write',
  async confirm(asked) {
    const { form } = asked
    const host = maybe(form, 'host')
    if (!host) return undefined
    const { jobs, more } = form.has('counted')
      ? { jobs: countedIds(asked).slice(0, AGAIN), more: false }
      : await failedTo(asked, host)
    const [n, newest] = [many(jobs.length, 'callback'), more ? 'the newest ' : '']
    if (jobs.length === 0) return { title: `No failed callbacks to ${hostName(host)}`, text: [], verb: '' }
    return {
      title: `Resend ${newest}${n} to ${hostName(host)}?`,
      text: [
        'The body and the id stay the same, so receivers can recognize duplicates.',
        ...(more ? [`More have failed. One action resends at most ${count(AGAIN)}; repeat it for the rest.`] : []),
      ],
      verb: `Resend ${count(jobs.length)}`,
      isSafe: true,
      fields: { counted: idsText(jobs) },
    }
  },
  async does(asked) {
    const send = (job: string | number) => asked.call('POST', `/v1/callbacks/${job}/resend`, {})
    const job = maybe(asked.form, 'job')
    if (job) {
      await send(job)
      return { say: `Resending the callback of #${job}` }
    }
    const { done, rest } = await actOnEach(countedIds(asked).slice(0, AGAIN), async (id) => void (await send(id)))
    return { say: `Resending ${many(done, 'callback')} to ${hostName(given(asked.form, 'host'))}${rest}` }
  },
}

async function load(asked: Asked) {
  const { engine, query, cache } = asked
  const state = states.find((one) => one === query.get('state'))
  const host = query.get('host') ?? undefined
  const open = query.get('open')
  const [{ rows: callbacks, cursor, newest }, counts, { breakers }, near] = await Promise.all([
    found(asked, { state, host, cursor: query.get('cursor') ?? undefined }),
    cache.get('callback counts', COUNTED, () => engine.callbacks.counts()),
    cache.get('breakers', COUNTED, () => engine.breakers.list()),
    open ? engine.callbacks.get(open).catch(missing) : undefined,
  ])
  return {
    // The index of the list changes later than the callback, so the opened callback replaces its row.
    callbacks: callbacks.map((one) => (near && one.of === near.callback.of ? near.callback : one)),
    cursor,
    newest,
    counts,
    state,
    host,
    breakers: breakers.filter(({ of }) => of === 'callbacks'),
    opened: near,
  }
}

const columns: readonly Column<CallbackView>[] = [
  { head: 'State', cell: ({ state }) => <StateOf state={state} /> },
  { head: 'Of job', label: true, cell: ({ of }) => <JobId id={of} /> },
  {
    head: 'URL',
    kind: 'mono',
    cell: ({ of, url }) => <NameLink to={useWay()({ open: String(of) })} of={url} most={48} isMain />,
  },
  {
    head: 'Last answer',
    kind: 'fill',
    cell: ({ lastError, state, endedAt, url }) =>
      state === 'DELIVERED' && endedAt !== null ? (
        <Ago at={endedAt} word="accepted" />
      ) : (
        lastError?.replace(`${URL.parse(url)?.host}: `, '')
      ),
  },
  { head: '#Attempts', cell: ({ attempts, maxAttempts }) => `${count(attempts)} of ${count(maxAttempts)}` },
  { head: '#Created', cell: ({ createdAt }) => <Ago at={createdAt} /> },
  { head: '#Next attempt', cell: (callback) => <NextTry callback={callback} /> },
  { head: '-Acts', kind: 'num', cell: (callback) => <Resend of={callback} /> },
]

function HostFilter({ host }: { host: string }) {
  return (
    <Card kind="change">
      <div class="foot row">
        <span>
          Only callbacks to <b class="mono">{hostName(host)}</b>.{' '}
          <Link to={useWay()({ host: undefined })}>Show all hosts</Link>
        </span>
        <Button act="resend" scope="write" fields={{ host }} icon="retry" small>
          Resend all failed
        </Button>
      </div>
    </Card>
  )
}

function List({ callbacks, cursor, newest, state, host }: CallbacksData) {
  return (
    <Card>
      {callbacks.length === 0 && cursor === null ? (
        state || host ? (
          <Empty act={<Link to="/callbacks">Show all</Link>}>No callbacks match.</Empty>
        ) : (
          <First of="callbacks" />
        )
      ) : (
        <DataTable caption="Callbacks" rows={callbacks} columns={columns} idOf={({ of }) => of} kind="lined" grows />
      )}
      <Further cursor={cursor} newest={newest} more="older callbacks" rows={callbacks.length} limit={MOST} />
    </Card>
  )
}

function View({ data }: { data: CallbacksData }) {
  const { callbacks, cursor, counts, breakers, state, host, opened } = data
  const way = useWay()
  const to = (state?: string) => way({ state, cursor: undefined })
  return (
    <>
      <Head title="Callbacks" note={rowsText(callbacks.length, cursor, 'callback')}>
        <Choice
          label="State"
          options={[
            { text: 'All', to: to(), on: !state },
            ...states.map((one) => ({
              text: host ? stateText(one) : `${stateText(one)} ${count(counts[one])}`,
              to: to(one),
              on: one === state,
            })),
          ]}
        />
      </Head>
      {host && <HostFilter host={host} />}
      {opened && <Opened near={opened} breakers={breakers} />}
      {breakers.length > 0 && (
        <Card kind="change">
          <Breakers breakers={breakers} />
        </Card>
      )}
      <List {...data} />
    </>
  )
}

export const callbacks = page({
  path: '/callbacks',
  nav: 'callbacks',
  every: 10_000,
  load,
  View,
  acts: { resend },
  styles: [style.name],
})
