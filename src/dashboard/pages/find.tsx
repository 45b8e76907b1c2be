import { isId } from '../../core/job.ts'
import type { JobRow } from '../../engine/engine.ts'
import { entries } from '../nav.ts'
import { type Asked, Elsewhere, page } from '../page.ts'
import { Act as Button } from '../parts/act.tsx'
import { Card, Empty, Head, Icon, To } from '../parts/layout.tsx'
import { Search } from '../parts/search.tsx'
import { searchedOf } from '../words/further.ts'
import { channelPath, groupPath, limitPath, queuePath, workerPath } from '../words/paths.ts'
import { cut, many, title } from '../words/text.ts'
import { FRESH, kindsOf } from './jobs/kinds.tsx'

type Act = { act: string; at: string; fields: Record<string, string> }
/** `here` names a button that a script of the page handles. */
type Line = { icon: string; text: string; what: string; to?: string; does?: Act; here?: string }
type FindData = { text: string; lines: Line[] }

const MOST = 40

const goTo = (id: number | string): never => {
  throw new Elsewhere(`/jobs/${id}`)
}

const VERB = /^(pause|resume) +(.+)$/i

const at = encodeURIComponent

/** Searches jobs only for texts of at least 3 characters, until 5 are found, at most twice 250 jobs. */
const [LEAST, FOUND, LOOKED_AT] = [3, 5, 250]

const pages: Line[] = entries.map(({ name, title, path }) => ({ icon: name, text: title, what: 'page', to: path }))

const settings: Line[] = [
  { text: 'Theme: light or dark', here: 'theme' },
  { text: 'Density of tables', here: 'density' },
  { text: 'Time zone', here: 'zone' },
  { text: 'Keyboard shortcuts', here: 'keys' },
  { text: 'Lanes, batch, ageing and mode of a queue', to: '/queues' },
  { text: 'Concurrency and rate of a limit', to: '/limits' },
  { text: 'Timeout and retries of a class', to: '/workers' },
].map((line) => ({ icon: 'pencil', what: 'setting', ...line }))

/** Finds actions for texts such as `pause media`. */
function actsOf(text: string, queues: readonly string[]): Line[] {
  const verb = VERB.exec(text)?.[1]?.toLowerCase()
  if (!verb) return []
  return queues.map((queue) => {
    const does = { act: verb, at: '/queues', fields: { queue } }
    return { icon: verb === 'pause' ? 'pause' : 'play', text: `${title(verb)} queue ${queue}`, what: 'act', does }
  })
}

/** Names the part of a job that contains the text. Rows do not contain args. */
function partOf({ labels, message, aliases }: JobRow, has: (text: string) => boolean): string {
  const label = Object.entries(labels).find(([, value]) => has(value))
  if (label) return label.join('=')
  if (message && has(message)) return cut(message, 60)
  return aliases.find(has) ?? 'in its args'
}

const isAlert = ({ queue }: JobRow): boolean => queue === 'alerts'

/** Finds kinds of error, and the newest jobs with the text in labels, args or errors. */
async function insideOf(asked: Asked, text: string, has: (text: string) => boolean) {
  if (text.length < LEAST) return { lines: [], seen: 'jobs' }
  const [{ kinds, muted }, { jobs, ...page }] = await Promise.all([
    kindsOf(asked),
    asked.engine.jobs.rows({ text, limit: 4 * FOUND, lookAt: LOOKED_AT }),
  ])
  const lines: Line[] = [
    ...[...kinds, ...muted]
      .filter(({ message, example, class: name }) => [message, example, name].some((part) => part && has(part)))
      .map(({ error, class: name, message, count }) => ({
        icon: 'stop',
        text: `${name}: ${cut(message, 60)}`,
        what: many(count, 'failed job'),
        to: `/jobs?status=failed&error=${error}`,
      })),
    ...[...jobs.filter((job) => !isAlert(job)), ...jobs.filter(isAlert)].slice(0, FOUND).map((job) => ({
      icon: 'jobs',
      text: `${job.class} #${job.id}`,
      what: `${job.status} job, ${partOf(job, has)}`,
      to: `/jobs/${job.id}`,
    })),
  ]
  return { lines, seen: `searched ${searchedOf(page)?.where ?? 'all jobs'}` }
}

/** Exact names first, then names that begin with the text. */
function bestFirst(lines: readonly Line[], wanted: string): Line[] {
  const ranks = [(text: string) => text === wanted, (text: string) => text.startsWith(wanted), () => true]
  return [...new Set(ranks.flatMap((fits) => lines.filter(({ text }) => fits(text.toLowerCase()))))]
}

async function linesOf(asked: Asked, text: string): Promise<Line[]> {
  const { engine, query, cache } = asked
  const name = VERB.exec(text)?.[2] ?? text
  const wanted = name.toLowerCase()
  const has = (part: string): boolean => part.toLowerCase().includes(wanted)
  const [{ workers }, { jobs, queues, groups, channels, limits }, exact, inside, [{ flows }, { schedules }]] =
    await Promise.all([
      cache.get('workers', FRESH, () => engine.workers.list()),
      engine.search(name),
      query.has('list') ? undefined : engine.jobs.list({ alias: text, limit: 1 }).catch(() => undefined),
      insideOf(asked, name, has),
      cache.get('named jobs', FRESH, () => Promise.all([engine.flows.list({}), engine.schedules.list({})])),
    ])
  if (exact?.jobs[0]) goTo(exact.jobs[0].id)
  const isWanted = (line: Line): boolean => has(line.text)
  const classes = workers
    .map(({ queue, class: name }) => ({
      icon: 'workers',
      text: `${queue}/${name}`,
      what: 'class',
      to: workerPath(queue, name),
    }))
    .filter(isWanted)
  const names: Line[] = [
    ...pages.filter(isWanted),
    ...flows
      .filter(({ name }) => has(name))
      .map(({ id, name, status }) => ({ icon: 'flows', text: name, what: `${status} flow`, to: `/flows/${id}` })),
    ...jobs.map(({ id, class: name, status, alias }) => {
      const [icon, kind] = schedules.some(({ job }) => job === id) ? ['schedules', 'schedule'] : ['jobs', 'job']
      return {
        icon,
        text: alias ?? `${name} #${id}`,
        what: `${alias ? `${name}, ` : ''}${status} ${kind}`,
        to: `/jobs/${id}`,
      }
    }),
    ...classes,
    ...queues.map((name) => ({ icon: 'queues', text: name, what: 'queue', to: queuePath(name) })),
    ...groups.map((id) => ({ icon: 'limits', text: id, what: 'group', to: groupPath(id) })),
    ...channels.map((name) => ({ icon: 'channels', text: name, what: 'channel', to: channelPath(name) })),
    ...limits.map((key) => ({ icon: 'limits', text: key, what: 'limit', to: limitPath(key) })),
    ...settings.filter(isWanted),
  ]
  const known = new Set(names.map(({ to }) => to))
  return [...actsOf(text, queues), ...bestFirst(names, wanted), ...inside.lines.filter(({ to }) => !known.has(to))]
    .slice(0, MOST)
    .concat(
      ...(engine.history.isOn
        ? [
            {
              icon: 'search',
              text: `Search the history for ${name}`,
              what: 'ended jobs',
              to: `/jobs?in=history&text=${at(name)}`,
            },
          ]
        : []),
      {
        icon: 'search',
        text: `Search labels, args and errors for ${name}`,
        what: inside.seen,
        to: `/jobs?text=${at(name)}`,
      },
    )
}

/** Opens the list of jobs for texts such as `status:failed`. */
function goToFilter({ query }: Asked, text: string): FindData {
  const to = `/jobs?q=${at(text)}`
  if (!query.has('list')) throw new Elsewhere(to)
  return { text, lines: [{ icon: 'jobs', text: `Jobs with ${text}`, what: 'filter', to }] }
}

async function load(asked: Asked): Promise<FindData> {
  const text = (asked.query.get('q') ?? '').trim().slice(0, 200)
  const id = text.replace(/^#/, '')
  if (isId(id) && !asked.query.has('list')) goTo(id)
  if (/^(?:[a-z]+|(?:args|labels)\.[^:]+):(?!\/\/)\S/.test(text)) return goToFilter(asked, text)
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

export const find = page<FindData>({
  path: '/find',
  every: 0,
  load,
  title: () => 'Search',
  crumbs: ({ text }) => [{ name: 'Search', to: '/find' }, ...(text ? [{ name: cut(text) }] : [])],
  View: ({ data: { text, lines } }) => (
    <>
      <Head title="Search" note={text && `${found(lines)} shown for “${cut(text)}”`}>
        <Search at="/find" label="Name, id or text" value={text} />
      </Head>
      <Card>
        {!text && (
          <Empty>
            Search by id, by part of a name, label, argument or error, by a filter such as{' '}
            <code>status:failed class:charge</code>, or for an action such as <code>pause media</code>.
          </Empty>
        )}
        {text && found(lines) === 0 && <Empty>No name or searched job contains this text.</Empty>}
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
