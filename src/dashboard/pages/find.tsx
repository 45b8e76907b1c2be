// Search: an id or an alias goes there at once; the beginning of an alias, a class, queue, limit, channel or page is a line.

import { isId } from '../../core/job.ts'
import { entries } from '../nav.ts'
import { type Asked, Elsewhere, page } from '../page.ts'
import { Icon } from '../parts/icon.tsx'
import { Card, Empty, Head } from '../parts/layout.tsx'
import { NameLink } from '../parts/name.tsx'
import { cut } from '../words/text.ts'

type Line = { icon: string; text: string; what: string; to: string }
type FindData = { text: string; lines: Line[] }

const MOST = 40

const goTo = (id: number | string): never => {
  throw new Elsewhere(`/jobs/${id}`)
}

async function linesOf({ engine }: Asked, text: string): Promise<Line[]> {
  const [{ workers }, { jobs, queues, groups, channels, limits }, exact] = await Promise.all([
    engine.workers.list(),
    engine.search(text),
    engine.jobs.list({ alias: text, limit: 1 }).catch(() => ({ jobs: [] })),
  ])
  if (exact.jobs[0]) goTo(exact.jobs[0].id)
  const at = encodeURIComponent
  const wanted = text.toLowerCase()
  const isWanted = (line: Line): boolean => line.text.toLowerCase().includes(wanted)
  const classes = workers.map(({ queue, class: name }) => ({
    icon: 'workers',
    text: `${queue}/${name}`,
    what: 'class',
    to: `/workers/${at(queue)}/${at(name)}`,
  }))
  return [
    ...entries.map(({ name, title, path }) => ({ icon: name, text: title, what: 'page', to: path })).filter(isWanted),
    ...jobs.map(({ id, class: name, alias }) => ({
      icon: 'jobs',
      text: alias ?? `${name} #${id}`,
      what: 'job',
      to: `/jobs/${id}`,
    })),
    ...classes.filter(isWanted),
    ...queues.map((name) => ({ icon: 'queues', text: name, what: 'queue', to: `/queues/${at(name)}` })),
    ...groups.map((id) => ({ icon: 'limits', text: id, what: 'group', to: `/groups/${at(id)}` })),
    ...channels.map((name) => ({ icon: 'channels', text: name, what: 'channel', to: `/channels?at=${at(name)}` })),
    ...limits.map((key) => ({ icon: 'limits', text: key, what: 'limit', to: `/limits?open=${at(key)}` })),
  ]
    .slice(0, MOST)
    .concat({ icon: 'search', text: `Search args and errors for ${text}`, what: 'jobs', to: `/jobs?text=${at(text)}` })
}

async function load(asked: Asked): Promise<FindData> {
  const text = (asked.query.get('q') ?? '').trim().slice(0, 200)
  const id = text.replace(/^#/, '')
  if (isId(id)) goTo(id)
  if (/^(?:[a-z]+|(?:args|labels)\.[^:]+):(?!\/\/)\S/.test(text))
    throw new Elsewhere(`/jobs?q=${encodeURIComponent(text)}`)
  return { text, lines: text ? await linesOf(asked, text) : [] }
}

export const find = page<FindData>({
  path: '/find',
  every: 0,
  load,
  title: () => 'Search',
  crumbs: ({ text }) => [{ name: 'Search', to: '/find' }, ...(text ? [{ name: cut(text) }] : [])],
  View: ({ data: { text, lines } }) => (
    <>
      <Head title="Search" note={text && `${Math.max(0, lines.length - 1)} for “${cut(text)}”`} />
      <Card>
        {lines.length === 0 && <Empty>Type an id, an alias, a class, a queue, a channel or a limit above.</Empty>}
        {lines.length === 1 && <Empty>No name contains this text.</Empty>}
        <ul class="checks next found">
          {lines.map(({ icon, text, what, to }) => (
            <li>
              <Icon name={icon} size={14} />
              <NameLink to={to} of={text} most={80} />
              <span class="right">{what}</span>
            </li>
          ))}
        </ul>
      </Card>
    </>
  ),
})
