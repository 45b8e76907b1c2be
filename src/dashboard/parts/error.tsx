import type { Code } from '../../core/errors.ts'
import { remedies } from '../../core/remedies.ts'
import { useLook } from '../look.ts'
import { entries } from '../nav.ts'
import { plain, title } from '../words/text.ts'
import { LinkButton } from './act.tsx'
import { Link } from './layout.tsx'
import { Search } from './search.tsx'

function Missing({ message }: { message: string }) {
  const { here, host } = useLook()
  const [, first = '', ...rest] = here.replace(/\?.*/, '').split('/')
  const list = entries.find(({ path }) => path === `/${first}`)
  return (
    <>
      <h1>Not found</h1>
      <p>{title(plain(message))}.</p>
      <p class="dim">
        {list && (
          <>
            It may have been removed (<Link to="/settings/keys#audit">see the audit log</Link>), or have ended (
            <Link to="/jobs?in=history">search the history</Link>).{' '}
          </>
        )}
        It may be in another deployment: this is <b>{host}</b>.
      </p>
      <div class="row">
        <Search at="/find" label="Search" value={rest.at(-1) ?? first} />
        {list && <LinkButton to={list.path}>{list.title}</LinkButton>}
        <LinkButton to="/more">All pages</LinkButton>
      </div>
    </>
  )
}

export function ErrorPage({ code, message }: { code: Code; message: string }) {
  const { here } = useLook()
  return (
    <div class="empty page-error">
      {code === 'NOT_FOUND' ? (
        <Missing message={message} />
      ) : (
        <>
          <h1>This page could not be loaded</h1>
          <p>{plain(message)}</p>
          <p class="dim">{title(remedies[code].remedy).replaceAll('`', '')}.</p>
          <code class="dimmer">{code}</code>
          <LinkButton to={here}>Try again</LinkButton>
        </>
      )}
    </div>
  )
}
