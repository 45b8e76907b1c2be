import { type NavName, nav } from '../nav.ts'
import { page } from '../page.ts'
import { LogOut } from '../parts/act.tsx'
import { Card, Head, Icon, To } from '../parts/layout.tsx'
import { countsOf, sumOf } from '../words/counts.ts'
import { title as capital, many } from '../words/text.ts'

export const more = page<Partial<Record<NavName, string>>>({
  path: '/more',
  every: 0,
  async load({ cache }) {
    const { queues } = (await cache.glance()).stats
    return { jobs: many(sumOf(countsOf(queues, null)), 'job'), queues: many(queues.length, 'queue') }
  },
  title: () => 'All pages',
  crumbs: () => [{ name: 'All pages' }],
  View: ({ data, look: { who } }) => (
    <>
      <Head title="All pages" note="Each key opens its page after g." />
      <div class="stack">
        {nav.map(({ title, entries }) => (
          <Card title={title} kind="narrow">
            <ul class="checks next found pages">
              {entries.map(({ name, title, path, key, says }) => (
                <li>
                  <Icon name={name} />
                  <To to={path}>
                    <b>{title}</b> <span class="dim">{capital(says)}</span>
                  </To>
                  <span class="right row">
                    {data[name]} <kbd class="wide">{key}</kbd>
                  </span>
                </li>
              ))}
            </ul>
          </Card>
        ))}
        <Card kind="narrow">
          <div class="body row">
            <span class="grow">
              {who.name} · {who.scopes.join(', ')}
            </span>
            <LogOut kind="btn small" />
          </div>
        </Card>
      </div>
    </>
  ),
})
