import { type AlertState, isMuted, type Noted } from '../../../core/alert.ts'
import { useLook } from '../../look.ts'
import type { Act, ActAsked } from '../../page.ts'
import { Act as Button, More } from '../../parts/act.tsx'
import { given, maybe } from '../../words/form.ts'
import { type Need, need } from '../../words/need.ts'
import { cut, title } from '../../words/text.ts'
import { lengthIn, lengths, MutedTag, untilOf } from '../jobs/mutes.tsx'

export const ALERTS = 'alerts'
export type Alerts = ReadonlyMap<string, AlertState>

/** The page reads alerts every ten seconds, but the user must see the change at once. */
async function reread({ cache, engine }: ActAsked): Promise<void> {
  const shown = await cache.last<Map<string, AlertState>>(ALERTS)
  for (const [key, state] of await engine.alerts.states()) shown?.set(key, state)
}

/** `back` undoes the action. With `means`, the action first asks for a reason. */
const change = (verb: string, back: string, means?: string): Act => ({
  scope: 'write',
  ...(means && {
    async confirm({ form, engine }) {
      const { alert } = (await engine.alerts.states()).get(given(form, 'alert')) ?? {}
      return {
        title: `${[title(verb), 'this alert', lengthIn(form)].filter(Boolean).join(' ')}?`,
        text: alert ? [alert.text, means] : [means],
        verb: title(verb),
        reason: true,
      }
    },
  }),
  async does(asked) {
    const { form, look } = asked
    const [alert, reason, until] = [given(form, 'alert'), maybe(form, 'reason'), untilOf(form, look.now).until]
    await asked.call('POST', `/v1/alerts/${verb}`, { alert, ...(means && { reason, until }) })
    await reread(asked)
    const undo = { act: back, alert, sure: 'yes', ...(reason && { reason }), ...(until && { until: String(until) }) }
    return { say: `Alert ${verb}d`, undo }
  },
})

export const depthNeeds = (alerts: Alerts, { publicUrl }: { publicUrl: string }): Need[] =>
  [...alerts].flatMap(([key, { alert }]) => {
    if (alert?.rule !== 'depth' || alert.goneAt !== undefined) return []
    const { text, since, link } = alert
    const buttons = [{ to: link.slice(`${publicUrl}/ui`.length), text: 'Open' }]
    const subject = key.slice('depth '.length)
    return [need('depth', { subject, name: '', text, since, buttons })]
  })

export const alertActs: Record<string, Act> = {
  acknowledge: change('acknowledge', 'unacknowledge', 'The alert is not sent again while the problem lasts.'),
  unacknowledge: change('unacknowledge', 'acknowledge'),
  mute: change('mute', 'unmute', 'The alert is not sent until the mute ends.'),
  unmute: change('unmute', 'mute'),
}

export function AlertNotes({ alert, muted }: AlertState) {
  const { now } = useLook()
  const acknowledged = alert?.acknowledged
  const reason = ({ reason }: Noted) => reason && <span>“{cut(reason, 100)}”</span>
  return (
    <>
      {acknowledged && (
        <>
          <span class="tag">{`acknowledged by ${cut(acknowledged.by, 24)}`}</span> {reason(acknowledged)}
        </>
      )}
      {muted && isMuted({ muted }, now) && (
        <>
          <MutedTag {...muted} until={muted.until ?? null} /> {reason(muted)}
        </>
      )}
    </>
  )
}

export function AlertMenu({ name, state: { alert, muted } }: { name: string; state: AlertState }) {
  const { now } = useLook()
  const press = (act: string, text: string, more: Record<string, string> = {}) => (
    <Button act={act} at="/" scope="write" fields={{ alert: name, ...more }} kind="quiet">
      {text}
    </Button>
  )
  return (
    <More label={`Alert ${name}`} small>
      {alert?.acknowledged
        ? press('unacknowledge', 'Unacknowledge', { reason: alert.acknowledged.reason ?? '' })
        : press('acknowledge', 'Acknowledge')}
      {muted && isMuted({ muted }, now)
        ? press('unmute', 'Unmute', {
            reason: muted.reason ?? '',
            until: muted.until ? new Date(muted.until).toISOString() : '',
          })
        : Object.entries({ '': 'until unmuted', ...lengths }).map(([length, text]) =>
            press('mute', `Mute ${text}`, { for: length }),
          )}
    </More>
  )
}
