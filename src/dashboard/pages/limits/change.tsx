import type { LimitPreview } from '../../../core/schemas.ts'
import type { LimitView } from '../../../engine/engine.ts'
import { Act, Pause } from '../../parts/act.tsx'
import { Field } from '../../parts/field.tsx'
import { FormCard } from '../../parts/form-card.tsx'
import { boundFields } from '../../words/limit.ts'
import { limitFields, Starts } from './preview.tsx'

export const Bounds = ({
  note,
  concurrency,
  limit,
  period,
}: Partial<Record<'note' | 'concurrency' | 'limit' | 'period', string>>) => (
  <>
    <Field name="concurrency" label="Max running" type="number" note={note} value={concurrency} />
    <Field name="limit" label="Starts per period" type="number" value={limit} />
    <Field name="period" label="Period" placeholder="1m" value={period} />
  </>
)

type ChangeProps = { of: string; limit?: LimitView; preview?: LimitPreview }

export function ChangeForm({ of: key, limit, preview }: ChangeProps) {
  return (
    <FormCard
      title={key ? `Change ${key}` : 'New limit'}
      act="set"
      scope="admin"
      at="/limits"
      press={key ? 'Save' : 'Create limit'}
      preview={limitFields}
      foot={
        limit && (
          <>
            <Pause paused={limit.paused} at="/limits" scope="admin" fields={{ key }} small />
            <Act act="remove" at="/limits" scope="admin" fields={{ key }} kind="danger" small>
              Remove
            </Act>
          </>
        )
      }
    >
      <div class="cronf">
        {key ? <input type="hidden" name="key" value={key} /> : <Field name="key" label="Key" required mono />}
        <Bounds note="empty: unlimited" {...(limit && boundFields(limit))} />
      </div>
      <Starts preview={preview} />
    </FormCard>
  )
}
