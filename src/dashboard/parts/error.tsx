import type { Code } from '../../core/errors.ts'
import { remedies } from '../../core/remedies.ts'
import { useLook } from '../look.ts'
import { plain } from '../words/text.ts'

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1).replaceAll('`', '')}.`

export function ErrorPage({ code, message }: { code: Code; message: string }) {
  const { base, here } = useLook()
  return (
    <div class="empty page-error">
      <h1>{code === 'NOT_FOUND' ? 'Not found' : 'This page could not be loaded'}</h1>
      <p>
        {plain(message)} <code>{code}</code>
      </p>
      <p class="dim">{sentence(remedies[code].remedy)}</p>
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
