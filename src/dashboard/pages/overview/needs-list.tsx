import { type AlertNote, type AlertState, isMuted } from '../../../core/alert.ts'
import { useLook } from '../../look.ts'
import type { Act, ActAsked } from '../../page.ts'
import { Act as Button, More, PlainButtons } from '../../parts/act.tsx'
import { Icon, Name, Since } from '../../parts/layout.tsx'
import { given, maybe } from '../../words/form.ts'
import { alertOf, type Need, need } from '../../words/need.ts'
import { count, cut, many, title } from '../../words/text.ts'
import { lengthIn, lengths, MutedTag, untilOf } from '../jobs/mutes.tsx'

export const ALERTS = 'alerts'
type Alerts = ReadonlyMap<string, AlertState>

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

function AlertNotes({ alert, muted }: AlertState) {
  const { now } = useLook()
  const acknowledged = alert?.acknowledged
  const reason = ({ reason }: AlertNote) => reason && <span>“{cut(reason, 100)}”</span>
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

function AlertMenu({ name, state: { alert, muted } }: { name: string; state: AlertState }) {
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

function Line({ need, alerts }: { need: Need; alerts: Alerts }) {
  const { kind, icon, name, text, more, since, buttons } = need
  const alert = alerts.get(alertOf(need))
  const [before, after] = text.split('{}')
  return (
    <li>
      <Icon name={icon} kind={kind} />
      <p class="what">
        {before}
        <Name of={name} most={60} isMain />
        {after}{' '}
        {more && (
          <span>
            <Name of={more} most={240} />
          </span>
        )}{' '}
        {alert && <AlertNotes {...alert} />}
      </p>
      <span class="since">{since !== undefined && <Since at={since} short />}</span>
      <span class="acts">
        <PlainButtons of={buttons} />
        {alert?.alert && <AlertMenu name={alertOf(need)} state={alert} />}
      </span>
    </li>
  )
}

const SHOWN = 10

export function Needs({ needs, alerts, waits }: { needs: Need[]; alerts: Alerts; waits: string }) {
  if (needs.length === 0)
    return (
      <section class="card alerts quiet">
        <header>
          <h2>{`All quiet. ${waits}`}</h2>
        </header>
      </section>
    )
  const lines = needs.map((need) => <Line need={need} alerts={alerts} />)
  return (
    <section class="card alerts" aria-labelledby="look">
      <header>
        <h2 id="look">{`${many(needs.length, 'problem')} to look at`}</h2>
      </header>
      <ul>{lines.slice(0, SHOWN)}</ul>
      {needs.length > SHOWN && (
        <details class="rest">
          <summary class="body">{count(needs.length - SHOWN)} more</summary>
          <ul>{lines.slice(SHOWN)}</ul>
        </details>
      )}
    </section>
  )
}
