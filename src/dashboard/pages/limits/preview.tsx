import { SidejobError } from '../../../core/errors.ts'
import type { LimitPreview } from '../../../core/schemas.ts'
import { duration } from '../../../core/time.ts'
import type { Engine } from '../../../engine/index.ts'
import { JobIds } from '../../parts/layout.tsx'
import { numberIn } from '../../words/form.ts'
import { many } from '../../words/text.ts'

const NAMED = 5

export const limitFields = ['key', 'concurrency', 'limit', 'period'] as const

const typedIn = (query: URLSearchParams, name: string): number | null => {
  const text = query.get(name)?.trim()
  return text ? numberIn(text, name) : null
}

export async function previewIn(engine: Engine, query: URLSearchParams): Promise<LimitPreview | undefined> {
  const key = query.get('key')
  if (!query.has('concurrency') || !key) return undefined
  try {
    const concurrency = typedIn(query, 'concurrency')
    const [limit, period] = [typedIn(query, 'limit'), query.get('period')?.trim()]
    const rate = limit === null || !period ? null : { limit, period: duration(period) }
    return (await engine.limits.set(key, { concurrency, rate }, { preview: true })).preview
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
