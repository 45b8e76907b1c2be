import type { LimitPreview } from '../../../core/schemas.ts'
import type { LimitView } from '../../../engine/engine.ts'
import { Act } from '../../parts/act.tsx'
import { Field } from '../../parts/field.tsx'
import { Bounds, FormCard } from './form-card.tsx'
import { limitFields, Starts } from './preview.tsx'

function Below({ limit: { key, paused } }: { limit: LimitView }) {
  return (
    <>
      <Act act={paused ? 'resume' : 'pause'} at="/limits" scope="admin" fields={{ key }} small>
        {paused ? 'Allow new runs' : 'Block new runs'}
      </Act>
      <Act act="remove" at="/limits" scope="admin" fields={{ key }} kind="danger" small>
        Remove
      </Act>
    </>
  )
}

export function ChangeForm({ limit, preview }: { limit?: LimitView; preview?: LimitPreview }) {
  const { key, concurrency, rate } = limit ?? {}
  return (
    <FormCard
      title={key ? `Change ${key}` : 'New limit'}
      act="set"
      press={key ? 'Save' : 'Create limit'}
      preview={limitFields}
      foot={limit && <Below limit={limit} />}
    >
      <div class="cronf four">
        {key ? <input type="hidden" name="key" value={key} /> : <Field name="key" label="Key" required mono />}
        <Bounds
          note="empty: unlimited"
          concurrency={concurrency?.toString()}
          limit={rate?.limit.toString()}
          period={rate ? `${rate.period / 1_000}s` : undefined}
        />
      </div>
      <Starts preview={preview} />
    </FormCard>
  )
}
