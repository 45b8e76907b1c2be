// Channels: who listens to which, by their hierarchy; and a box to publish.

import type { Engine } from '../../engine/engine.ts'
import { useLook } from '../look.ts'
import { page } from '../page.ts'
import { refusal, Sent } from '../parts/act.tsx'
import { Field, TextArea } from '../parts/field.tsx'
import { Card, Empty, Head, JobId, To } from '../parts/layout.tsx'
import { given, jsonText } from '../words/form.ts'
import { count, many } from '../words/number.ts'
import { cut } from '../words/text.ts'

type ChannelsData = Awaited<ReturnType<Engine['channels']>>
type Channel = ChannelsData['channels'][number]

const SHOWN = 300
const LISTENERS = 6

function Row({ channel: { name, subscribers, publishers = [] } }: { channel: Channel }) {
  const depth = Math.min(4, name.split('/').length - 2)
  return (
    <tr>
      <td class={`mono d${Math.max(0, depth)}`}>
        <b>{cut(name, 60)}</b>
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
  load: ({ engine }) => engine.channels({ publishers: true }),
  title: () => 'Channels',
  View: ({ data: { channels } }) => (
    <>
      <Head title="Channels" note={many(channels.length, 'channel has listeners', 'channels have listeners')} />
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
