// What is shown in the place of a page that cannot be.

import type { Code } from '../../core/errors.ts'
import { useLook } from '../look.ts'
import { plain } from '../words/json.ts'

const hints: Partial<Record<Code, string>> = {
  UNAVAILABLE: 'Jobs go on as soon as it answers again; nothing is lost.',
  FORBIDDEN: 'Log in with a key that has it, or ask who made this one.',
  NOT_FOUND: 'It may be gone: jobs are removed some time after they have ended.',
}

export function ErrorPage({ code, message }: { code: Code; message: string }) {
  const { base, here } = useLook()
  return (
    <div class="empty page-error">
      <h1>{code === 'NOT_FOUND' ? 'Not found' : 'This did not work'}</h1>
      <p>
        {plain(message)} <code>{code}</code>
      </p>
      {hints[code] && <p class="dim">{hints[code]}</p>}
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
