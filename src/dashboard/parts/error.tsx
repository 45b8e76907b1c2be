import type { Code } from '../../core/errors.ts'
import { remedies } from '../../core/remedies.ts'
import { useLook } from '../look.ts'
import { plain, title } from '../words/text.ts'

export function ErrorPage({ code, message }: { code: Code; message: string }) {
  const { base, here } = useLook()
  return (
    <div class="empty page-error">
      <h1>{code === 'NOT_FOUND' ? 'Not found' : 'This page could not be loaded'}</h1>
      <p>
        {plain(message)} <code>{code}</code>
      </p>
      <p class="dim">{title(remedies[code].remedy).replaceAll('`', '')}.</p>
      <p class="row">
        <a class="btn" href={`${base}${here}`}>
          Try again
        </a>
        <a class="btn quiet" href={`${base}/`}>
          Overview
        </a>
      </p>
    </div>
  )
}
