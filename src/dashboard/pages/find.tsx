import { isId } from '../../core/job.ts'
import type { JobRow, QueueView } from '../../engine/engine.ts'
import { entries } from '../nav.ts'
import { type Asked, Elsewhere, page } from '../page.ts'
import { Act as Button } from '../parts/act.tsx'
import { Card, Empty, Head, Icon, To } from '../parts/layout.tsx'
import { Search } from '../parts/search.tsx'
import { searchedOf } from '../words/further.ts'
import { channelPath, errorPath, groupPath, jobPath, limitPath, queuePath, workerPath } from '../words/paths.ts'
import { waitingIn } from '../words/queue.ts'
import { count, cut, many, title } from '../words/text.ts'
import { stateText } from './callbacks/opened.tsx'
import { knownWorkers } from './jobs/filter.tsx'
import { FRESH, kindsOf } from './jobs/kinds.tsx'
import { type Counted, countedIn, countsOf, kindOf, todayOf, type Worker } from './workers/classes.tsx'

type Act = { act: string; at: string; fields: Record<string, string> }
type Line = { icon: string; text: string; what: string; to?: string; does?: Act; here?: string }
type FindData = { text: string; lines: Line[] }

const MOST = 40

const goTo = (id: number | string): never => {
  throw new Elsewhere(jobPath(id))
}

const VERB = /^(pause|resume) +(.+)$/i

const at = encodeURIComponent

/** Minimum letters of a text, maximum jobs to show, and jobs per page: a search reads two pages. */
const [LEAST, FOUND, LOOKED_AT] = [3, 5, 250]

const line = (icon: string, text: string, what: string, to: string): Line => ({ icon, text, what, to })

const pages = entries.map(({ name, title, path }) => line(name, title, 'page', path))

const settings: Line[] = [
  { text: 'Theme: light or dark', here: 'theme' },
  { text: 'Density of tables', here: 'density' },
  { text: 'Time zone', here: 'zone' },
  { text: 'Keyboard shortcuts', here: 'keys' },
  { text: 'Lanes, batch, ageing and mode of a queue', to: '/queues' },
  { text: 'Concurrency and rate of a limit', to: '/limits' },
  { text: 'Timeout and retries of a class', to: '/workers' },
].map((line) => ({ icon: 'pencil', what: 'setting', ...line }))

function actsOf(text: string, queues: readonly string[]): Line[] {
  const verb = VERB.exec(text)?.[1]?.toLowerCase()
  if (!verb) return []
  return queues.map((queue) => {
    const does = { act: verb, at: '/queues', fields: { queue } }
    return { icon: verb === 'pause' ? 'pause' : 'play', text: `${title(verb)} queue ${queue}`, what: 'action', does }
  })
}

/** Rows do not contain args, so a text that is found nowhere else is in the args. */
function partOf({ labels, message, aliases }: JobRow, has: (text: string) => boolean): string {
  const label = Object.entries(labels).find(([, value]) => has(value))
  if (label) return label.join('=')
  if (message && has(message)) return cut(message, 60)
  return aliases.find(has) ?? 'in its args'
}

const isAlert = ({ queue }: JobRow): boolean => queue === 'alerts'

async function insideOf(asked: Asked, text: string, has: (text: string) => boolean) {
  if (text.length < LEAST) return { lines: [], seen: 'jobs' }
  const [{ kinds, muted }, { jobs, ...page }] = await Promise.all([
    kindsOf(asked),
    asked.engine.jobs.rows({ text, limit: 4 * FOUND, lookAt: LOOKED_AT }),
  ])
  const lines: Line[] = [
    ...[...kinds, ...muted]
      .filter(({ message, example, class: name }) => [message, example, name].some((part) => part && has(part)))
      .map(({ error, class: name, message, count }) =>
        line('stop', `${name}: ${cut(message, 60)}`, many(count, 'failed job'), errorPath(error)),
      ),
    ...[...jobs.filter((job) => !isAlert(job)), ...jobs.filter(isAlert)]
      .slice(0, FOUND)
      .map((job) =>
        line('jobs', `${job.class} #${job.id}`, `${job.status} job, ${partOf(job, has)}`, `/jobs/${job.id}`),
      ),
  ]
  return { lines, seen: `searched ${searchedOf(page)?.where ?? 'all jobs'}` }
}

function stateOf(queue: QueueView): string {
  const { running, failed } = queue.counts
  const numbers = { waiting: waitingIn(queue), running, failed }
  const said = Object.entries(numbers).flatMap(([word, n]) => (n > 0 ? `${count(n)} ${word}` : []))
  return [...(queue.paused ? ['paused'] : []), ...said].join(', ') || 'idle'
}

function bestFirst(lines: readonly Line[], wanted: string): Line[] {
  const ranks = [(text: string) => text === wanted, (text: string) => text.startsWith(wanted), () => true]
  return [...new Set(ranks.flatMap((fits) => lines.filter(({ text }) => fits(text.toLowerCase()))))]
}

const classLines = (workers: readonly Worker[], counted: Counted): Line[] =>
  workers
    .toSorted((a, b) => countsOf(counted, b).runs - countsOf(counted, a).runs)
    .map((worker) => {
      const what = todayOf(counted, worker) || `${kindOf(worker)} class`
      return line('workers', `${worker.queue}/${worker.class}`, what, workerPath(worker.queue, worker.class))
    })

function moreLines({ engine, deps }: Asked, name: string, seen: string): Line[] {
  const search = (where: string, what: string, to: string): Line =>
    line('search', `Search ${where} for ${name}`, what, `${to}=${at(name)}`)
  return [
    ...(engine.history.isOn ? [search('the history', 'ended jobs', '/jobs?in=history&text')] : []),
    ...(deps.downloads ? [search('files', 'files', '/files?q')] : []),
    line('search', `List jobs with ${name} in labels, args or errors`, seen, `/jobs?text=${at(name)}`),
  ]
}

async function linesOf(asked: Asked, text: string): Promise<Line[]> {
  const { engine, query, cache } = asked
  const name = VERB.exec(text)?.[2] ?? text
  const wanted = name.toLowerCase()
  const has = (part: string): boolean => part.toLowerCase().includes(wanted)
  const [
    { workers },
    { jobs, queues, groups, channels, limits },
    exact,
    inside,
    [{ flows }, { schedules }],
    counted,
    glance,
    { callbacks },
  ] = await Promise.all([
    knownWorkers(asked),
    engine.search(name),
    query.has('list') ? undefined : engine.jobs.list({ alias: text, limit: 1 }).catch(() => undefined),
    insideOf(asked, name, has),
    cache.get('named jobs', FRESH, () => Promise.all([engine.flows.list({}), engine.schedules.list({})])),
    countedIn(asked),
    cache.glance(),
    cache.get('newest callbacks', FRESH, () => engine.callbacks.list({ limit: 50 })),
  ])
  if (exact?.jobs[0]) goTo(exact.jobs[0].id)
  const isWanted = (line: Line): boolean => has(line.text)
  const waitingAt = (limit: string): number => glance.limits.find(({ key }) => key === limit)?.waiting ?? 0
  const names: Line[] = [
    ...pages.filter(isWanted),
    ...flows.map(({ id, name, status }) => line('flows', name, `${status} flow`, `/flows/${id}`)).filter(isWanted),
    ...jobs.map(({ id, class: name, status, alias }) => {
      const [icon, kind] = schedules.some(({ job }) => job === id) ? ['schedules', 'schedule'] : ['jobs', 'job']
      return line(icon!, alias ?? `${name} #${id}`, `${alias ? `${name}, ` : ''}${status} ${kind}`, `/jobs/${id}`)
    }),
    ...queues.map((name) => {
      const queue = glance.stats.queues.find((one) => one.name === name)
      return line('queues', name, queue ? stateOf(queue) : 'queue', queuePath(name))
    }),
    ...classLines(workers, counted).filter(isWanted),
    ...groups.map((id) => line('limits', id, 'group', groupPath(id))),
    ...channels.map((name) => line('channels', name, 'channel', channelPath(name))),
    ...callbacks
      .map(({ of, url, state }) =>
        line('callbacks', url, `${stateText(state)} callback of job ${of}`, `/callbacks?open=${of}`),
      )
      .filter(isWanted)
      .slice(0, FOUND),
    ...limits.map((key) =>
      line('limits', key, waitingAt(key) ? `${count(waitingAt(key))} waiting` : 'limit', limitPath(key)),
    ),
    ...settings.filter(isWanted),
  ]
  const known = new Set(names.map(({ to }) => to))
  return [...actsOf(text, queues), ...bestFirst(names, wanted), ...inside.lines.filter(({ to }) => !known.has(to))]
    .slice(0, MOST)
    .concat(moreLines(asked, name, inside.seen))
}

async function load(asked: Asked): Promise<FindData> {
  const text = (asked.query.get('q') ?? '').trim().slice(0, 200)
  const id = text.replace(/^#/, '')
  const isList = asked.query.has('list')
  if (isId(id) && !isList) goTo(id)
  if (/^(?:[a-z]+|(?:args|labels)\.[^:]+):(?!\/\/)\S/.test(text)) {
    const to = `/jobs?q=${at(text)}`
    if (!isList) throw new Elsewhere(to)
    return { text, lines: [line('jobs', `Jobs with ${text}`, 'filter', to)] }
  }
  return { text, lines: text ? await linesOf(asked, text) : [...pages, ...settings] }
}

const found = (lines: readonly Line[]): number => lines.filter(({ icon }) => icon !== 'search').length

const groupOf = ({ icon, what, to }: Line): string => {
  if (what === 'page') return 'Pages'
  if (to === undefined || what === 'setting') return 'Actions and settings'
  if (icon === 'search') return 'Search further'
  return entries.find(({ name }) => name === icon)?.title ?? 'Kinds of error'
}

function Marked({ text, part }: { text: string; part: string }) {
  const at = part ? text.toLowerCase().indexOf(part.toLowerCase()) : -1
  const end = at + part.length
  return at < 0 ? text : [text.slice(0, at), <mark>{text.slice(at, end)}</mark>, text.slice(end)]
}

function Hit({ line: { icon, text, what, to, does, here }, part }: { line: Line; part: string }) {
  const shown = (
    <span>
      <Marked text={cut(text, 80)} part={icon === 'search' ? '' : part} />
    </span>
  )
  return (
    <li>
      <Icon name={icon} size={14} />
      {to !== undefined && <To to={to}>{shown}</To>}
      {here && (
        <button class="btn quiet small" type="button" data-do={here}>
          {shown}
        </button>
      )}
      {does && (
        <Button {...does} scope="admin" kind="quiet" small>
          {shown}
        </Button>
      )}
      <span class="right">{what}</span>
    </li>
  )
}

export const find = page({
  path: '/find',
  every: 0,
  load,
  title: () => 'Search',
  crumbs: ({ text }) => [{ name: 'Search', to: '/find' }, ...(text ? [{ name: cut(text) }] : [])],
  View: ({ data: { text, lines } }) => (
    <>
      <Head title="Search" note={text && `${found(lines)} shown for “${cut(text)}”`} />
      <Search label="Name, id or text" value={text} isMain />
      <Card>
        {!text && (
          <Empty>
            Search by id, by part of a name, label, argument or error, by the URL of a recent callback, by a filter such
            as <code>status:failed class:charge</code>, or for an action such as <code>pause media</code>.
          </Empty>
        )}
        {text && found(lines) === 0 && <Empty>No name and no searched job contains this text.</Empty>}
        {[...Map.groupBy(lines, groupOf)].map(([group, own]) => (
          <>
            <h3 class="group">{group}</h3>
            <ul class="checks next found">
              {own.map((line) => (
                <Hit line={line} part={VERB.exec(text)?.[2] ?? text} />
              ))}
            </ul>
          </>
        ))}
      </Card>
    </>
  ),
})
