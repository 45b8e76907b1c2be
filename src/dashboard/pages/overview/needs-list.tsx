import { PlainButtons } from '../../parts/act.tsx'
import { Icon, Name, Since } from '../../parts/layout.tsx'
import { alertOf, type Need } from '../../words/need.ts'
import { count, many } from '../../words/text.ts'
import { AlertMenu, AlertNotes, type Alerts } from './alerts.tsx'

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
