import { SidejobError } from '../../../core/errors.ts'
import type { LimitPreview } from '../../../core/schemas.ts'
import { duration } from '../../../core/time.ts'
import type { LimitView } from '../../../engine/engine.ts'
import type { Engine } from '../../../engine/index.ts'
import { Act, Pause } from '../../parts/act.tsx'
import { Field } from '../../parts/field.tsx'
import { FormCard } from '../../parts/form-card.tsx'
import { JobIds } from '../../parts/layout.tsx'
import { boundFields, boundsIn } from '../../words/limit.ts'
import { many } from '../../words/text.ts'

const NAMED = 5

export async function previewIn(engine: Engine, query: URLSearchParams): Promise<LimitPreview | undefined> {
  const key = query.get('key')
  if (!query.has('concurrency') || !key) return undefined
  try {
    const { concurrency, rate } = boundsIn(query)
    const settings = { concurrency, rate: rate && { ...rate, period: duration(rate.period) } }
    return (await engine.limits.set(key, settings, { preview: true })).preview
  } catch (error) {
    if (error instanceof SidejobError && ['BAD_REQUEST', 'NOT_FOUND'].includes(error.code)) return undefined
    throw error
  }
}

const Starts = ({ preview }: { preview?: LimitPreview }) => (
  <div id="preview" data-island aria-live="polite">
    {preview && (
      <p class="note">
        {preview.wouldStart === 0 ? (
          'No job would start immediately.'
        ) : (
          <>
            {many(preview.wouldStart, 'job')} could start immediately:{' '}
            <JobIds of={preview.first} most={NAMED} all={preview.wouldStart} />
          </>
        )}
      </p>
    )}
  </div>
)

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
      preview={['key', 'concurrency', 'limit', 'period']}
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
