import type { Child } from 'hono/jsx'
import { isBelow } from '../../core/channel.ts'
import { scanCursor } from '../../core/schemas.ts'
import type { Engine } from '../../engine/index.ts'
import { useWay } from '../look.ts'
import { page } from '../page.ts'
import { LinkButton } from '../parts/act.tsx'
import { Field, TextArea } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Ago, Card, Head, JobId, Link, Name, NameLink, To, Zero } from '../parts/layout.tsx'
import { Listen } from '../parts/listen.tsx'
import { First } from '../parts/snippet.tsx'
import { type Column, DataTable } from '../parts/table.tsx'
import { Value } from '../parts/value-view.tsx'
import { type Branch, branchesOf } from '../words/channel.ts'
import { sum } from '../words/counts.ts'
import { given, jsonText } from '../words/form.ts'
import { channelPath, workerPath } from '../words/paths.ts'
import { bytes, count, cut, many } from '../words/text.ts'

type ChannelsData = Awaited<ReturnType<Engine['channels']['list']>> & {
  at?: string
  to?: string
  isFirst: boolean
}
type Channel = ChannelsData['channels'][number]

const SHOWN = 300
const LISTENERS = 6

/** `all`: channels at the path and below it. `own` is empty if no channel has exactly this path. */
type Row = Branch & { all: readonly Channel[]; own: Partial<Channel>; isOpen: boolean }

function Several<One extends { port: string }>({ of, show }: { of: readonly One[]; show: (one: One) => Child }) {
  const more = of.length - LISTENERS
  return (
    <>
      {of.slice(0, LISTENERS).map((one) => (
        <span class="listener">
          {show(one)} <Name of={one.port} most={20} kind="dim mono" />{' '}
        </span>
      ))}
      {more > 0 && <span class="dimmer">{count(more)} more</span>}
    </>
  )
}

const hasSubscribers = ({ subscribers }: Channel): boolean => subscribers.length > 0

const columns: readonly Column<Row>[] = [
  {
    head: 'Channel',
    kind: 'mono',
    cell: ({ name, label, isOpen }) => (
      <To kind="link" to={channelPath(name)} label={`Listen to ${name}`} current={isOpen}>
        <Name of={name.slice(0, -label.length)} kind="dimmer" />
        <Name of={label} most={60} isMain />
      </To>
    ),
  },
  { head: '#Ports', cell: ({ own: { subscribers } }) => subscribers && <Zero n={subscribers.length} /> },
  {
    head: 'Listeners',
    cell: ({ own, all }) =>
      own.subscribers ? (
        <Several of={own.subscribers} show={({ job }) => <JobId id={job} />} />
      ) : (
        <span class="dim">{many(all.length, 'channel')} below it</span>
      ),
  },
  {
    head: 'Publishing classes',
    label: ({ own }) => (own.publishers?.length ? 'from' : undefined),
    cell: ({ own }) => (
      <Several
        of={own.publishers ?? []}
        show={({ queue, class: name }) => <NameLink to={workerPath(queue, name)} of={name} most={24} />}
      />
    ),
  },
  {
    head: 'Last kept message',
    kind: 'fill',
    cell: ({ own: { last } }) =>
      last &&
      (last.message === undefined ? (
        <span class="dimmer">{bytes(last.size)}; too large to show</span>
      ) : (
        <Value value={last.message} />
      )),
  },
  {
    head: '#Received',
    kind: 'dim',
    title: ({ own: { last, minutes = [] } }) => last && `${many(sum(minutes), 'message')} in ten minutes`,
    cell: ({ own }) => own.last && <Ago at={own.last.at} />,
  },
]

function Tree({ channels, cursor, at }: Pick<ChannelsData, 'channels' | 'cursor' | 'at'>) {
  const way = useWay()
  const rows = branchesOf(channels.map(({ name }) => name)).map((branch): Row => {
    const all = channels.filter(({ name }) => isBelow(name, branch.name))
    return { ...branch, all, own: all.find(({ name }) => name === branch.name) ?? {}, isOpen: branch.name === at }
  })
  return (
    <Card>
      <DataTable
        caption="Channels with their listeners, publishing classes and last message"
        rows={rows}
        columns={columns}
        kind="lined split"
      />
      {cursor !== null && (
        <div class="further">
          <LinkButton to={way({ cursor })} small>
            More channels
          </LinkButton>
        </div>
      )}
    </Card>
  )
}

const Tail = ({ at }: { at: string }) => (
  <Card title={`Messages on ${cut(at, 60)}`} kind="change" right={<Link to="/channels">Stop</Link>}>
    <Listen to={[at]} />
    <p class="note foot">
      <b class="st running">Live</b> messages on this channel and the channels below it. The newest is first;{' '}
      <kbd>p</kbd> pauses.
    </p>
    <ol class="log" id="tail" data-island aria-label={`Messages of ${at}, newest first`} />
  </Card>
)

function subscribersText(to: string, channels: readonly Channel[], areAll: boolean): string {
  const all = channels.filter(({ name }) => isBelow(to, name)).flatMap(({ subscribers }) => subscribers)
  const ports = new Set(all.map(({ job, port }) => `${job} ${port}`)).size
  if (ports === 0) return `No ${areAll ? '' : 'listed '}port would receive it.`
  return `${areAll ? '' : 'At least '}${many(ports, 'port')} would receive it.`
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
          {to && subscribersText(to, channels, areAll)}
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

export const channels = page({
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
  View: ({ data: { channels, cursor, isFirst, at, to } }) => {
    const areAll = cursor === null && isFirst
    const counted = `${many(channels.length, 'channel')}, ${count(channels.filter(hasSubscribers).length)} with listeners`
    return (
      <>
        <Head title="Channels" note={areAll ? counted : `on this page: ${counted}`} />
        {at && <Tail at={at} />}
        <div class="cols c21">
          {channels.length > 0 ? (
            <Tree channels={channels} cursor={cursor} at={at} />
          ) : (
            <Card>
              <First of="channels" />
            </Card>
          )}
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
        const { subscribers } = await call<{ subscribers: number }>(
          'POST',
          '/v1/publish',
          `{"channel":${JSON.stringify(channel)},"message":${message}${keep ? ',"keep":1' : ''}}`,
        )
        return { say: `${many(subscribers, 'port', 'ports')} received the message on ${channel}` }
      },
    },
  },
})
