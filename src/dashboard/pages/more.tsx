import { useLook } from '../look.ts'
import { nav } from '../nav.ts'
import { page } from '../page.ts'
import { LogOut } from '../parts/act.tsx'
import { Card, Head, Icon, To } from '../parts/layout.tsx'

function Leave() {
  const { who } = useLook()
  return (
    <div class="body row">
      <span class="grow">
        {who.name} · {who.scopes.join(', ')}
      </span>
      <LogOut kind="btn small" />
    </div>
  )
}

export const more = page<null>({
  path: '/more',
  every: 0,
  load: async () => null,
  title: () => 'All pages',
  crumbs: () => [{ name: 'All pages' }],
  View: () => (
    <>
      <Head title="All pages" />
      <div class="stack">
        {nav.map(({ title, entries }) => (
          <Card title={title}>
            <ul class="checks next">
              {entries.map(({ name, title, path }) => (
                <li>
                  <Icon name={name} />
                  <To to={path}>{title}</To>
                </li>
              ))}
            </ul>
          </Card>
        ))}
        <Card>
          <Leave />
        </Card>
      </div>
    </>
  ),
})
