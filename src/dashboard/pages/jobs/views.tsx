import type { Act } from '../../page.ts'
import { Act as Button } from '../../parts/act.tsx'
import { Form } from '../../parts/form.tsx'
import { Icon, Name, To } from '../../parts/layout.tsx'
import { type DeployMark, deployName } from '../../words/deploy.ts'
import { viewOf } from '../../words/filter.ts'
import { given } from '../../words/form.ts'
import { apiPath } from '../../words/paths.ts'
import { Columns } from './columns.tsx'
import { isPast } from './past.tsx'

type View = { name: string; query: string }

const SINCE = 'since=deploy'

const shipped: readonly View[] = [
  { name: 'All', query: '' },
  { name: 'Failed, last 6 h', query: 'status=failed&ended=6h' },
  { name: 'Since the deploy', query: SINCE },
  { name: 'At limits', query: 'waits=limit' },
  { name: 'Retrying', query: 'waits=retry' },
  { name: 'Recently ended', query: 'sort=ended' },
  { name: 'Over a minute', query: 'status=running&longer=1m' },
]

const past: readonly View[] = [
  { name: 'All ended', query: 'in=history' },
  { name: 'Last 24 h', query: 'in=history&ended=24h' },
  { name: 'Last 7 days', query: 'in=history&ended=7d' },
  { name: 'Over a minute', query: 'in=history&longer=1m' },
]

export const viewUrl = (name: string, shared: readonly View[]): string | undefined => {
  const found = [...shipped, ...shared].find((view) => view.name === name)
  return found && `/jobs${found.query && `?${found.query}`}`
}

export const viewActs: Record<string, Act> = {
  share: {
    scope: 'admin',
    async does({ form, query, call }) {
      const name = given(form, 'name')
      await call('PUT', apiPath('views', name), { query: viewOf(query) })
      return { say: `View ${name} is shared with everyone`, undo: { act: 'unshare', name, sure: 'yes' } }
    },
  },
  unshare: {
    scope: 'admin',
    confirm: ({ form }) => ({
      title: `Delete view ${given(form, 'name')}?`,
      text: ['This deletes the view for all users. Links to its filter still work.'],
      verb: 'Delete',
    }),
    async does({ form, call }) {
      const name = given(form, 'name')
      await call('DELETE', apiPath('views', name))
      return { say: `View ${name} deleted` }
    },
  },
}

const viewsFor = (query: URLSearchParams): readonly View[] => (isPast(query) ? past : shipped)

function Keep({ query, shared }: Pick<ViewsProps, 'query' | 'shared'>) {
  const own = viewOf(query)
  if (/^(in=history&)?status=\w+$/.test(own) || [...viewsFor(query), ...shared].some((view) => view.query === own))
    return null
  return (
    <details class="more keep">
      <summary class="btn small quiet">
        <Icon name="plus" size={12} />
        Save this view
      </summary>
      <Form act="share" scope="admin" press="Share with everyone" kind="menu form" button="small">
        <label>
          Name
          <input class="field" name="name" required maxlength={60} />
        </label>
      </Form>
    </details>
  )
}

/** "Since the deploy" narrows the current list; other views replace it. */
function wayOf(query: string, own: string): string {
  const kept = new URLSearchParams(query === SINCE ? own : '')
  for (const [name, value] of new URLSearchParams(query)) kept.set(name, value)
  const search = kept.toString()
  return `/jobs${search && `?${search}`}`
}

type ViewsProps = { query: URLSearchParams; shared: readonly View[]; deploy?: DeployMark }

export function Views({ query, shared, deploy }: ViewsProps) {
  const own = viewOf(query)
  const isShared = shared.find((view) => view.query === own)
  return (
    <nav class="views" aria-label="Views">
      {viewsFor(query).map(({ name, query }) => (
        <To to={wayOf(query, own)} current={own === query}>
          {query === SINCE && deploy ? `Since the ${deployName(deploy)}` : name}{' '}
        </To>
      ))}
      {shared.map(({ name, query }) => (
        <To to={`/jobs?${query}`} current={own === query}>
          <Name of={name} most={40} />
        </To>
      ))}
      {isShared && (
        <Button
          act="unshare"
          scope="admin"
          fields={{ name: isShared.name }}
          kind="quiet"
          small
          icon="x"
          label={`Delete view ${isShared.name}`}
        />
      )}
      <span class="grow" />
      {!isPast(query) && <Columns query={query} />}
      <Keep query={query} shared={shared} />
    </nav>
  )
}
