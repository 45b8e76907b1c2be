import { useLook } from '../look.ts'
import { nav } from '../nav.ts'
import { page } from '../page.ts'
import { Card, Head, Icon, To } from '../parts/layout.tsx'

function Leave() {
  const { base, csrf, who } = useLook()
  return (
    <form class="leave body row" method="post" action={`${base}/logout`}>
      <input type="hidden" name="csrf" value={csrf} />
      <span class="grow">
        {who.name} · {who.scopes.join(', ')}
      </span>
      <button class="btn small" type="submit">
        Log out
      </button>
    </form>
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
