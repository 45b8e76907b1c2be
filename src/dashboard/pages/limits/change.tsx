// A form for one limit: how many at once, how many in a time.

import type { LimitView } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { Act, refusal, Sent } from '../../parts/act.tsx'
import { Field } from '../../parts/field.tsx'
import { Card, To } from '../../parts/layout.tsx'

export function ChangeForm({ limit }: { limit?: LimitView }) {
  const { base, who } = useLook()
  const off = refusal(who.scopes, 'admin')
  const { key, concurrency, rate, paused } = limit ?? {}
  return (
    <Card
      title={key ? `Change ${key}` : 'New limit'}
      kind="change"
      right={
        <To kind="link" to="/limits">
          Leave it
        </To>
      }
    >
      <form class="form" method="post" action={`${base}/limits`} data-act="set">
        <Sent act="set" />
        <div class="cronf four">
          {key ? <input type="hidden" name="key" value={key} /> : <Field name="key" label="Key" required mono />}
          <Field
            name="concurrency"
            label="At once"
            type="number"
            note="empty: no bound"
            value={concurrency ? String(concurrency) : undefined}
          />
          <Field name="limit" label="In a time" type="number" value={rate ? String(rate.limit) : undefined} />
          <Field name="period" label="Of" placeholder="1m" value={rate ? `${rate.period / 1_000}s` : undefined} />
        </div>
        <button class="btn primary" type="submit" disabled={off !== undefined} title={off}>
          {key ? 'Change it' : 'Make it'}
        </button>
      </form>
      {key && (
        <div class="foot row">
          <Act act={paused ? 'resume' : 'pause'} at="/limits" scope="admin" fields={{ key }} small>
            {paused ? 'Let jobs in again' : 'Let nobody in'}
          </Act>
          <Act act="remove" at="/limits" scope="admin" fields={{ key }} kind="danger" small>
            Remove
          </Act>
        </div>
      )}
    </Card>
  )
}
