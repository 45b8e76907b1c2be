// Channels: listeners, last messages, and a form to publish.

import type { Engine } from '../../engine/index.ts'
import { page } from '../page.ts'
import { Field, TextArea } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Card, Empty, Head, JobId, To } from '../parts/layout.tsx'
import { Listen } from '../parts/listen.tsx'
import { Ago } from '../parts/moment.tsx'
import { Name, NameLink } from '../parts/name.tsx'
import { Table } from '../parts/table.tsx'
import { Json, Value } from '../parts/value.tsx'
import { given, jsonText } from '../words/form.ts'
import { bytes, count, many } from '../words/number.ts'
import { cut, listed } from '../words/text.ts'

type ChannelsData = Awaited<ReturnType<Engine['channels']['list']>> & {
  at?: string
  to?: string
}
type Channel = ChannelsData['channels'][number]
type Kept = Channel & { last: NonNullable<Channel['last']> }

const SHOWN = 300
const LISTENERS = 6

function ChannelCell({ name }: { name: string }) {
  const depth = Math.min(4, name.split('/').length - 2)
  return (
    <td class={`mono d${Math.max(0, depth)}`}>
      <NameLink
        to={`/channels?at=${encodeURIComponent(name)}`}
        label={`Listen to ${name}`}
        of={name}
        most={60}
        isMain
      />
    </td>
  )
}

function Row({ channel: { name, subscribers, publishers = [] } }: { channel: Channel }) {
  return (
    <tr>
      <ChannelCell name={name} />
      <td class="num" data-head="ports">
        {count(subscribers.length)}
      </td>
      <td class="fill half">
        {subscribers.slice(0, LISTENERS).map(({ job, port }) => (
          <span class="listener">
            <JobId id={job} />{' '}
            <span class="dim mono">
              <Name of={port} most={20} />
            </span>{' '}
          </span>
        ))}
        {subscribers.length > LISTENERS && (
          <span class="dimmer">{many(subscribers.length - LISTENERS, 'more', 'more')}</span>
        )}
      </td>
      <td
        class={publishers.length > 0 ? 'fill half' : 'fill half dimmer'}
        data-head={publishers.length > 0 ? 'from' : undefined}
      >
        {publishers.slice(0, LISTENERS).map(({ queue, class: name, port }) => (
          <span class="listener">
            <NameLink to={`/workers/${encodeURIComponent(queue)}/${encodeURIComponent(name)}`} of={name} most={24} />{' '}
            <span class="dim mono">
              <Name of={port} most={20} />
            </span>{' '}
          </span>
        ))}
        {publishers.length > LISTENERS && (
          <span class="dimmer">{many(publishers.length - LISTENERS, 'more', 'more')}</span>
        )}
      </td>
    </tr>
  )
}

function Listeners({ channels }: { channels: readonly Channel[] }) {
  return (
    <Card title="Who listens">
      {channels.length === 0 && <Empty>No port listens. Give a port `channels`.</Empty>}
      {channels.length > 0 && (
        <Table
          caption="Channels with their listeners and publishing classes"
          heads={['Channel', '#Ports', 'Who listens', 'Which classes publish']}
          kind="lined"
        >
          {channels
            .toSorted((a, b) => (a.name < b.name ? -1 : 1))
            .slice(0, SHOWN)
            .map((channel) => (
              <Row channel={channel} />
            ))}
        </Table>
      )}
    </Card>
  )
}

const sum = (numbers: readonly number[] = []): number => numbers.reduce((all, n) => all + n, 0)

function LastRow({ channel: { name, last, rate = 0, minutes } }: { channel: Kept }) {
  return (
    <tr>
      <ChannelCell name={name} />
      <td class="dim">
        <Ago at={last.at} />
      </td>
      <td class="num" data-head="a minute" title={`${count(sum(minutes))} in ten minutes`}>
        {count(rate)}
      </td>
      <td class="fill">
        {last.message === undefined ? (
          <span class="dimmer">{bytes(last.size)}, too long to be kept</span>
        ) : (
          <Value value={last.message} />
        )}
      </td>
    </tr>
  )
}

function Last({ channels }: { channels: readonly Kept[] }) {
  return (
    <Card title="Last messages" tag={count(channels.length)} right="published with keep">
      <Table
        caption="Channels with a kept last message, and their messages per minute"
        heads={['Channel', 'Came', '#A minute', 'Message']}
        kind="lined"
      >
        {channels.slice(0, SHOWN).map((channel) => (
          <LastRow channel={channel} />
        ))}
      </Table>
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
          <input id="sift" class="field" type="search" aria-label="Only with" placeholder="Only with" />
          <To kind="link" to="/channels">
            Stop
          </To>
        </>
      }
    >
      <Listen to={[at]} />
      <p class="note foot">New messages are shown here only; the dot above pauses (p).</p>
      {last?.message !== undefined && (
        <details class="foot">
          <summary class="link">
            The last one that is kept, <Ago at={last.at} />
          </summary>
          <Json value={last.message} />
        </details>
      )}
      <ol class="log" id="tail" data-island aria-label={`Messages of ${at}, the newest first`} />
    </Card>
  )
}

function heardBy(to: string, channels: readonly Channel[]): string {
  const ports = new Map(
    channels
      .filter(({ name }) => to === name || to.startsWith(name === '/' ? name : `${name}/`))
      .flatMap(({ subscribers }) => subscribers)
      .map(({ job, port }) => [`${job} ${port}`, `#${job} ${cut(port, 20)}`]),
  )
  if (ports.size === 0) return 'No port would receive it.'
  const first = [...ports.values()].slice(0, LISTENERS)
  const more = ports.size - first.length
  const named = more > 0 ? `${first.join(', ')} and ${many(more, 'more', 'more')}` : listed(first)
  return `${many(ports.size, 'port')} would receive it: ${named}.`
}

function Publish({ to, channels }: { to?: string; channels: readonly Channel[] }) {
  return (
    <Card title="Publish">
      <Form act="publish" scope="write" press="Publish" at="/channels" preview={['channel']}>
        <Field
          name="channel"
          label="Channel"
          note="all channels above it receive it as well"
          placeholder="/shop/7/paid"
          value={to}
          required
          mono
        />
        <p class="note" id="preview" aria-live="polite">
          {to && heardBy(to, channels)}
        </p>
        <TextArea name="message" label="Message" note="JSON" />
        <label class="rowf">
          <input type="checkbox" class="check" name="keep" value="1" />
          Keep it <span class="dim">as the channel's last message</span>
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
    const to = query.get('channel')?.slice(0, 500)
    return {
      ...(await engine.channels.list({ publishers: true, last: true })),
      at: at?.startsWith('/') ? at : undefined,
      to,
    }
  },
  title: () => 'Channels',
  View: ({ data: { channels, cursor, at, to } }) => {
    const heard = channels.filter(({ subscribers }) => subscribers.length > 0)
    const kept = channels.filter((channel): channel is Kept => channel.last !== undefined)
    return (
      <>
        <Head
          title="Channels"
          note={`${cursor === null ? '' : 'more than '}${many(heard.length, 'channel has listeners', 'channels have listeners')}`}
        />
        {at && <Tail at={at} last={kept.find(({ name }) => name === at)?.last} />}
        <div class="cols c21">
          <div class="stack">
            <Listeners channels={heard} />
            {kept.length > 0 && <Last channels={kept} />}
          </div>
          <Publish to={to} channels={channels} />
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
        return { say: `${many(subscribers, 'port', 'ports')} received it on ${channel}` }
      },
    },
  },
})
