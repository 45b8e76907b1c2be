import type { Code } from '../../core/errors.ts'
import { remedies } from '../../core/remedies.ts'
import { useLook } from '../look.ts'
import { entries } from '../nav.ts'
import { decoded } from '../words/paths.ts'
import { cut, plain, title } from '../words/text.ts'
import { LinkButton } from './act.tsx'
import { Icon, Link } from './layout.tsx'

const nearest = (first: string) =>
  entries.find(({ path }) => path === `/${first}`) ??
  entries.find(({ path }) => first.length > 2 && path.slice(1, 4) === first.slice(0, 3).toLowerCase())

type ErrorPageProps = { code: Code; message: string; hasHistory: boolean }

function Missing({ message, hasHistory }: Omit<ErrorPageProps, 'code'>) {
  const { here, host } = useLook()
  const [, first = '', ...rest] = here.replace(/\?.*/, '').split('/')
  const near = nearest(first)
  const name = decoded(rest.at(-1) ?? first)
  const q = encodeURIComponent(name)
  const steps = [
    ['search', `Search for “${cut(name)}”`, `/find?q=${q}&list`],
    first === 'jobs' && hasHistory && ['schedules', 'Search the history of ended jobs', '/jobs?in=history'],
    rest.length > 0 && ['keys', 'Search the audit for it', `/settings/keys?q=${q}`],
    near ? [near.name, `Open ${near.title}`, near.path] : ['menu', 'See all pages', '/more'],
  ].filter((step): step is string[] => step !== false)
  return (
    <>
      <h1>{title(plain(message))}</h1>
      <p class="dim">
        It may have been removed, or be in another deployment: this is <b>{host}</b>.
      </p>
      <div class="card">
        <ul class="checks next">
          {steps.map(([icon, text, to]) => (
            <li>
              <Icon name={icon!} />
              <Link to={to!}>{text}</Link>
            </li>
          ))}
        </ul>
      </div>
    </>
  )
}

export function ErrorPage({ code, ...missing }: ErrorPageProps) {
  const { message } = missing
  const { here } = useLook()
  return (
    <div class="empty page-error">
      {code === 'NOT_FOUND' ? (
        <Missing {...missing} />
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
