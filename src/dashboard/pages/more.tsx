import { around } from '../around.ts'
import { nav } from '../nav.ts'
import { page } from '../page.ts'
import { LogOut } from '../parts/act.tsx'
import { Card, Head, Icon, To } from '../parts/layout.tsx'
import { Sign } from '../parts/shell.tsx'
import { title as capital } from '../words/text.ts'

export const more = page({
  path: '/more',
  every: 0,
  load: async (asked) => (await around(asked)).signs,
  title: () => 'All pages',
  View: ({ data: signs, look: { who } }) => (
    <>
      <Head title="All pages" note="Press g, then the key." />
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
                  <span class="right">{signs[name] && <Sign {...signs[name]} />}</span>
                  <kbd class="wide">{key}</kbd>
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
