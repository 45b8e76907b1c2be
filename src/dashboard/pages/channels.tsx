// Channels: who listens to which, by their hierarchy; and a box to publish.

import type { Engine } from '../../engine/engine.ts'
import { useLook } from '../look.ts'
import { page } from '../page.ts'
import { refusal, Sent } from '../parts/act.tsx'
import { Field, TextArea } from '../parts/field.tsx'
import { Card, Empty, Head, JobId, To } from '../parts/layout.tsx'
import { Listen } from '../parts/listen.tsx'
import { given, jsonText } from '../words/form.ts'
import { count, many } from '../words/number.ts'
import { cut } from '../words/text.ts'

/** `at`: the channel whose messages are shown as they come. */
type ChannelsData = Awaited<ReturnType<Engine['channels']>> & { at?: string }
type Channel = ChannelsData['channels'][number]

const SHOWN = 300
const LISTENERS = 6

function Row({ channel: { name, subscribers, publishers = [] } }: { channel: Channel }) {
  const depth = Math.min(4, name.split('/').length - 2)
  return (
    <tr>
      <td class={`mono d${Math.max(0, depth)}`}>
        <To to={`/channels?at=${encodeURIComponent(name)}`} label={`Listen to ${name}`}>
          <b>{cut(name, 60)}</b>
        </To>
      </td>
      <td class="num">{count(subscribers.length)}</td>
      <td class="fill">
        {subscribers.slice(0, LISTENERS).map(({ job, port }) => (
          <span class="listener">
            <JobId id={job} /> <span class="dim mono">{cut(port, 20)}</span>{' '}
          </span>
        ))}
        {subscribers.length > LISTENERS && (
          <span class="dimmer">{many(subscribers.length - LISTENERS, 'more', 'more')}</span>
        )}
      </td>
      <td class="fill">
        {publishers.slice(0, LISTENERS).map(({ queue, class: name, port }) => (
          <span class="listener">
            <To to={`/workers/${encodeURIComponent(queue)}/${encodeURIComponent(name)}`}>{cut(name, 24)}</To>{' '}
            <span class="dim mono">{cut(port, 20)}</span>{' '}
          </span>
        ))}
        {publishers.length > LISTENERS && (
          <span class="dimmer">{many(publishers.length - LISTENERS, 'more', 'more')}</span>
        )}
      </td>
    </tr>
  )
}

/** What comes on a channel and below it, from now on; nothing is kept. */
function Tail({ at }: { at: string }) {
  return (
    <Card
      title={`What comes on ${cut(at, 60)}`}
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
      <p class="note foot">What comes is shown, and kept nowhere; the dot above pauses it (p).</p>
      <ol class="log" id="tail" data-island aria-label={`Messages of ${at}, the newest first`} />
    </Card>
  )
}

function Publish() {
  const { base, who } = useLook()
  const off = refusal(who.scopes, 'write')
  return (
    <Card title="Publish">
      <form class="form" method="post" action={`${base}/channels`} data-act="publish">
        <Sent act="publish" />
        <Field
          name="channel"
          label="Channel"
          note="all above it hear it as well"
          placeholder="/shop/7/paid"
          required
          mono
        />
        <TextArea name="message" label="Message" note="JSON" />
        <button class="btn primary" type="submit" disabled={off !== undefined} title={off}>
          Publish
        </button>
      </form>
    </Card>
  )
}

export const channels = page<ChannelsData>({
  path: '/channels',
  nav: 'channels',
  every: 10_000,
  async load({ engine, query }) {
    const at = query.get('at')
    return { ...(await engine.channels({ publishers: true })), ...(at?.startsWith('/') ? { at } : {}) }
  },
  title: () => 'Channels',
  View: ({ data: { channels, at } }) => (
    <>
      <Head title="Channels" note={many(channels.length, 'channel has listeners', 'channels have listeners')} />
      {at && <Tail at={at} />}
      <div class="cols c21">
        <Card title="Who listens">
          {channels.length === 0 && <Empty>Nobody listens. A port with `channels` does.</Empty>}
          <table class="tbl">
            <caption class="vh">Channels, who listens, and which classes publish</caption>
            {channels.length > 0 && (
              <thead>
                <tr>
                  <th>Channel</th>
                  <th class="num">Ports</th>
                  <th>Who listens</th>
                  <th>Which classes publish</th>
                </tr>
              </thead>
            )}
            <tbody>
              {channels
                .toSorted((a, b) => (a.name < b.name ? -1 : 1))
                .slice(0, SHOWN)
                .map((channel) => (
                  <Row channel={channel} />
                ))}
            </tbody>
          </table>
        </Card>
        <Publish />
      </div>
    </>
  ),
  acts: {
    publish: {
      scope: 'write',
      async does({ form, call }) {
        const channel = given(form, 'channel')
        const message = jsonText(given(form, 'message'), 'message')
        const { subscribers } = (await call(
          'POST',
          '/v1/publish',
          `{"channel":${JSON.stringify(channel)},"message":${message}}`,
        )) as { subscribers: number }
        return { say: `${many(subscribers, 'port', 'ports')} heard it on ${channel}` }
      },
    },
  },
})
