import type { Child } from 'hono/jsx'
import { isBelow } from '../../core/channel.ts'
import { scanCursor } from '../../core/schemas.ts'
import type { Engine } from '../../engine/index.ts'
import { useWay } from '../look.ts'
import { page } from '../page.ts'
import { Field, TextArea } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Ago, Card, Head, JobId, Link, Name, NameLink, To } from '../parts/layout.tsx'
import { Listen } from '../parts/listen.tsx'
import { First } from '../parts/snippet.tsx'
import { type Column, DataTable } from '../parts/table.tsx'
import { Json, Value } from '../parts/value-view.tsx'
import { type Branch, branchesOf } from '../words/channel.ts'
import { sum } from '../words/counts.ts'
import { given, jsonText } from '../words/form.ts'
import { channelPath, workerPath } from '../words/paths.ts'
import { atLeast, bytes, count, cut, listed, many } from '../words/text.ts'

type ChannelsData = Awaited<ReturnType<Engine['channels']['list']>> & {
  at?: string
  to?: string
  isFirst: boolean
}
type Channel = ChannelsData['channels'][number]
type Kept = Channel & { last: NonNullable<Channel['last']> }

const SHOWN = 300
const LISTENERS = 6

/** `own` is undefined if no port listens to the path itself. */
type Row = Branch & { all: readonly Channel[]; own?: Channel }

const NAME: Column<Partial<Branch> & { name: string }> = {
  head: 'Channel',
  kind: 'mono',
  cell: ({ name, label = name, depth = 0 }) => (
    <>
      {'\u2003'.repeat(depth)}
      <NameLink to={channelPath(name)} label={`Listen to ${name}`} of={label} most={60} isMain />
    </>
  ),
}

function Several<One extends { port: string }>({ of, show }: { of: readonly One[]; show: (one: One) => Child }) {
  const more = of.length - LISTENERS
  return (
    <>
      {of.slice(0, LISTENERS).map((one) => (
        <span class="listener">
          {show(one)}{' '}
          <span class="dim mono">
            <Name of={one.port} most={20} />
          </span>{' '}
        </span>
      ))}
      {more > 0 && <span class="dimmer">{many(more, 'more', 'more')}</span>}
    </>
  )
}

const publishersOf = ({ own }: Row) => own?.publishers ?? []

const listening: readonly Column<Row>[] = [
  NAME,
  { head: '#Ports', label: 'ports', cell: ({ all }) => count(sum(all, ({ subscribers }) => subscribers.length)) },
  {
    head: 'Listeners',
    kind: 'fill half',
    cell: ({ own, all }) =>
      own ? (
        <Several of={own.subscribers} show={({ job }) => <JobId id={job} />} />
      ) : (
        <span class="dim">in {many(all.length, 'channel')}</span>
      ),
  },
  {
    head: 'Publishing classes',
    kind: (row) => (publishersOf(row).length > 0 ? 'fill half' : 'fill half dimmer'),
    label: 'from',
    cell: (row) => (
      <Several
        of={publishersOf(row)}
        show={({ queue, class: name }) => <NameLink to={workerPath(queue, name)} of={name} most={24} />}
      />
    ),
  },
]

function Listeners({ channels, cursor }: Pick<ChannelsData, 'channels' | 'cursor'>) {
  const way = useWay()
  const rows = branchesOf(channels.map(({ name }) => name)).map((branch): Row => {
    const all = channels.filter(({ name }) => isBelow(name, branch.name))
    return { ...branch, all, own: all.find(({ name }) => name === branch.name) }
  })
  return (
    <Card title="Listeners">
      <DataTable
        caption="Channels with their listeners and publishing classes"
        empty="No port listens. To listen, set the channels of an input port."
        rows={rows}
        columns={listening}
        kind="lined"
      />
      {cursor !== null && (
        <div class="further">
          <To kind="btn small" to={way({ cursor })}>
            More channels
          </To>
        </div>
      )}
    </Card>
  )
}

const keeping: readonly Column<Kept>[] = [
  NAME,
  { head: 'Received', kind: 'dim', cell: ({ last }) => <Ago at={last.at} /> },
  {
    head: '#Per minute',
    label: 'per minute',
    title: ({ minutes = [] }) => `${count(sum(minutes, (n) => n))} in ten minutes`,
    cell: ({ rate = 0 }) => count(rate),
  },
  {
    head: 'Message',
    kind: 'fill',
    cell: ({ last: { message, size } }) =>
      message === undefined ? <span class="dimmer">{bytes(size)}; too large to keep</span> : <Value value={message} />,
  },
]

function Last({ channels, isCut }: { channels: readonly Kept[]; isCut: boolean }) {
  return (
    <Card title="Last messages" tag={atLeast(channels.length, isCut)} right="kept by their channels">
      <DataTable
        caption="Channels with a kept last message, and their messages per minute"
        rows={channels.slice(0, SHOWN)}
        columns={keeping}
        kind="lined"
      />
    </Card>
  )
}

function Tail({ at, last }: { at: string; last?: Kept['last'] }) {
  return (
    <Card
      title={`Messages on ${cut(at, 60)}`}
      kind="change"
      right={
        <>
          <input id="sift" class="field" type="search" aria-label="Filter messages" placeholder="Filter messages" />
          <Link to="/channels">Stop</Link>
        </>
      }
    >
      <Listen to={[at]} />
      <p class="note foot">New messages appear below. Click the dot above to pause (p).</p>
      {last?.message !== undefined && (
        <details class="foot">
          <summary class="link">
            Last stored message, <Ago at={last.at} />
          </summary>
          <Json value={last.message} />
        </details>
      )}
      <ol class="log" id="tail" data-island aria-label={`Messages of ${at}, newest first`} />
    </Card>
  )
}

function heardBy(to: string, channels: readonly Channel[], areAll: boolean): string {
  const ports = new Map(
    channels
      .filter(({ name }) => isBelow(to, name))
      .flatMap(({ subscribers }) => subscribers)
      .map(({ job, port }) => [`${job} ${port}`, `#${job} ${cut(port, 20)}`]),
  )
  if (ports.size === 0) return `No ${areAll ? '' : 'listed '}port would receive it.`
  const first = [...ports.values()].slice(0, LISTENERS)
  const more = ports.size - first.length
  const named = more > 0 ? `${first.join(', ')} and ${many(more, 'more', 'more')}` : listed(first)
  return `${areAll ? '' : 'At least '}${many(ports.size, 'port')} would receive it: ${named}.`
}

function Publish({ to, channels, areAll }: { to?: string; channels: readonly Channel[]; areAll: boolean }) {
  return (
    <Card title="Publish">
      <Form act="publish" scope="write" press="Publish" at="/channels" preview={['channel']}>
        <Field
          name="channel"
          label="Channel"
          note="parent channels also receive the message"
          placeholder="/shop/7/paid"
          value={to}
          required
          mono
        />
        <p class="note" id="preview" aria-live="polite">
          {to && heardBy(to, channels, areAll)}
        </p>
        <TextArea name="message" label="Message" note="JSON" />
        <label class="rowf">
          <input type="checkbox" class="check" name="keep" value="1" />
          Keep <span class="dim">as the last message of the channel</span>
        </label>
      </Form>
    </Card>
  )
}

export const channels = page<ChannelsData>({
  path: '/channels',
  nav: 'channels',
  every: 10_000,
  async load({ engine, query }) {
    const at = query.get('at') ?? undefined
    const to = (query.get('channel') ?? at)?.slice(0, 500)
    const cursor = scanCursor.catch('0').parse(query.get('cursor'))
    return {
      ...(await engine.channels.list({ publishers: true, last: true, cursor, limit: SHOWN })),
      isFirst: cursor === '0',
      at: at?.startsWith('/') ? at : undefined,
      to,
    }
  },
  title: () => 'Channels',
  View: ({ data: { channels, cursor, isFirst, at, to } }) => {
    const heard = channels.filter(({ subscribers }) => subscribers.length > 0)
    const areAll = cursor === null && isFirst
    const kept = channels.filter((channel): channel is Kept => channel.last !== undefined)
    return (
      <>
        <Head
          title="Channels"
          note={`${areAll ? '' : 'at least '}${many(heard.length, 'channel has listeners', 'channels have listeners')}`}
        />
        {at && <Tail at={at} last={kept.find(({ name }) => name === at)?.last} />}
        <div class="cols c21">
          <div class="stack">
            {channels.length > 0 ? (
              <Listeners channels={heard} cursor={cursor} />
            ) : (
              <Card>
                <First of="channels" />
              </Card>
            )}
            {kept.length > 0 && <Last channels={kept} isCut={cursor !== null} />}
          </div>
          <Publish to={to} channels={channels} areAll={areAll} />
        </div>
      </>
    )
  },
  acts: {
    publish: {
      scope: 'write',
      async does({ form, call }) {
        const channel = given(form, 'channel')
        const message = jsonText(given(form, 'message'), 'message')
        const keep = form.get('keep') !== null
        const { subscribers } = (await call(
          'POST',
          '/v1/publish',
          `{"channel":${JSON.stringify(channel)},"message":${message}${keep ? ',"keep":1' : ''}}`,
        )) as { subscribers: number }
        return { say: `${many(subscribers, 'port', 'ports')} received the message on ${channel}` }
      },
    },
  },
})
