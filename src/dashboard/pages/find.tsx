// Search: goes to an id or an alias, lists the rest.

import { isId } from '../../core/job.ts'
import { entries } from '../nav.ts'
import { type Asked, Elsewhere, page } from '../page.ts'
import { Act as Button } from '../parts/act.tsx'
import { Icon } from '../parts/icon.tsx'
import { Card, Empty, Head } from '../parts/layout.tsx'
import { NameLink } from '../parts/name.tsx'
import { cut } from '../words/text.ts'

type Act = { act: string; at: string; fields: Record<string, string> }
type Line = { icon: string; text: string; what: string; to?: string; does?: Act }
type FindData = { text: string; lines: Line[] }

const MOST = 40

const goTo = (id: number | string): never => {
  throw new Elsewhere(`/jobs/${id}`)
}

const VERB = /^(pause|resume) +(.+)$/i

/** As in `pause media`. */
function actsOf(text: string, queues: readonly string[]): Line[] {
  const verb = VERB.exec(text)?.[1]?.toLowerCase()
  if (!verb) return []
  const icon = verb === 'pause' ? 'pause' : 'play'
  const said = verb === 'pause' ? 'Pause' : 'Resume'
  return queues.map((queue) => {
    const does = { act: verb, at: '/queues', fields: { queue } }
    return { icon, text: `${said} queue ${queue}`, what: 'act', does }
  })
}

const beginningFirst = (lines: readonly Line[], wanted: string): Line[] => {
  const begins = ({ text }: Line): boolean => text.toLowerCase().startsWith(wanted)
  return [...lines.filter(begins), ...lines.filter((line) => !begins(line))]
}

async function linesOf({ engine, query }: Asked, text: string): Promise<Line[]> {
  const [{ workers }, { jobs, queues, groups, channels, limits }, exact] = await Promise.all([
    engine.workers.list(),
    engine.search(VERB.exec(text)?.[2] ?? text),
    engine.jobs.list({ alias: text, limit: 1 }).catch(() => ({ jobs: [] })),
  ])
  if (exact.jobs[0] && !query.has('list')) goTo(exact.jobs[0].id)
  const at = encodeURIComponent
  const wanted = text.toLowerCase()
  const isWanted = (line: Line): boolean => line.text.toLowerCase().includes(wanted)
  const classes = workers.map(({ queue, class: name }) => ({
    icon: 'workers',
    text: `${queue}/${name}`,
    what: 'class',
    to: `/workers/${at(queue)}/${at(name)}`,
  }))
  const names: Line[] = [
    ...entries.map(({ name, title, path }) => ({ icon: name, text: title, what: 'page', to: path })).filter(isWanted),
    ...jobs.map(({ id, class: name, status, alias }) => ({
      icon: 'jobs',
      text: alias ?? `${name} #${id}`,
      what: `${alias ? `${name}, ` : ''}${status} job`,
      to: `/jobs/${id}`,
    })),
    ...classes.filter(isWanted),
    ...queues.map((name) => ({ icon: 'queues', text: name, what: 'queue', to: `/queues/${at(name)}` })),
    ...groups.map((id) => ({ icon: 'limits', text: id, what: 'group', to: `/groups/${at(id)}` })),
    ...channels.map((name) => ({ icon: 'channels', text: name, what: 'channel', to: `/channels?at=${at(name)}` })),
    ...limits.map((key) => ({ icon: 'limits', text: key, what: 'limit', to: `/limits?open=${at(key)}` })),
  ]
  return [...actsOf(text, queues), ...beginningFirst(names, wanted)]
    .slice(0, MOST)
    .concat({ icon: 'search', text: `Search args and errors for ${text}`, what: 'jobs', to: `/jobs?text=${at(text)}` })
}

/** As in `status:failed`. */
function goToFilter({ query }: Asked, text: string): FindData {
  const to = `/jobs?q=${encodeURIComponent(text)}`
  if (!query.has('list')) throw new Elsewhere(to)
  return { text, lines: [{ icon: 'jobs', text: `Jobs with ${text}`, what: 'filter', to }] }
}

async function load(asked: Asked): Promise<FindData> {
  const text = (asked.query.get('q') ?? '').trim().slice(0, 200)
  const id = text.replace(/^#/, '')
  if (isId(id) && !asked.query.has('list')) goTo(id)
  if (/^(?:[a-z]+|(?:args|labels)\.[^:]+):(?!\/\/)\S/.test(text)) return goToFilter(asked, text)
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
          {lines.map(({ icon, text, what, to, does }) => (
            <li>
              <Icon name={icon} size={14} />
              {to !== undefined && <NameLink to={to} of={text} most={80} />}
              {does && (
                <Button {...does} scope="admin" kind="quiet" small>
                  {text}
                </Button>
              )}
              <span class="right">{what}</span>
            </li>
          ))}
        </ul>
      </Card>
    </>
  ),
})
