import { SidejobError } from '../../../core/errors.ts'
import type { LimitPreview } from '../../../core/schemas.ts'
import { duration } from '../../../core/time.ts'
import type { Engine } from '../../../engine/index.ts'
import { JobIds } from '../../parts/layout.tsx'
import { boundsIn } from '../../words/limit.ts'
import { many } from '../../words/text.ts'

const NAMED = 5

export const limitFields = ['key', 'concurrency', 'limit', 'period'] as const

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

export const Starts = ({ preview }: { preview?: LimitPreview }) => (
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
