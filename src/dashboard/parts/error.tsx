import type { Code } from '../../core/errors.ts'
import { remedies } from '../../core/remedies.ts'
import { useLook } from '../look.ts'
import { plain, title } from '../words/text.ts'
import { LinkButton } from './act.tsx'

export function ErrorPage({ code, message }: { code: Code; message: string }) {
  const { here } = useLook()
  const isMissing = code === 'NOT_FOUND'
  return (
    <div class="empty page-error">
      <h1>{isMissing ? 'Not found' : 'This page could not be loaded'}</h1>
      <p>{isMissing ? title(plain(message)) : plain(message)}</p>
      {!isMissing && <p class="dim">{title(remedies[code].remedy).replaceAll('`', '')}.</p>}
      <code class="dimmer">{code}</code>
      <p class="row">
        {!isMissing && <LinkButton to={here}>Try again</LinkButton>}
        <LinkButton to="/jobs">Jobs</LinkButton>
        <LinkButton to="/jobs?in=history">History</LinkButton>
      </p>
    </div>
  )
}
