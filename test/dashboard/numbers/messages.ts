import { type Facts, MAX_LOG_ENTRIES } from './facts.ts'
import type { Scene } from './scene.ts'
import type { Claims } from './survey.ts'
import { momentOf, n, row, sum, time } from './words.ts'

const MAX_NAMED_LISTENERS = 6

export async function channelsPage(_: Facts, { site: { engine } }: Scene): Promise<Claims> {
  const listed = (await engine.channels.list({ publishers: true, last: true })).channels
  const channels = listed.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const heard = channels.filter(({ subscribers }) => subscribers.length > 0)
  const first = (subscribers: (typeof channels)[number]['subscribers']) =>
    [
      ...subscribers.slice(0, MAX_NAMED_LISTENERS).map(({ job, port }) => `#${job} ${port}`),
      ...(subscribers.length > MAX_NAMED_LISTENERS ? [`${n(subscribers.length - MAX_NAMED_LISTENERS)} more`] : []),
    ].join(' ')
  return {
    '.head .note': [`${n(channels.length)} channels, ${n(heard.length)} with listeners`],
    '.cols > .card:first-child tbody tr': [
      row('/shop', '', `${n(channels.length)} channels below it`, '', '', ''),
      ...channels.map(({ name, subscribers, publishers = [], last, minutes = [] }) =>
        row(
          name,
          n(subscribers.length),
          first(subscribers),
          publishers.map(({ class: of, port }) => `${of} ${port}`).join(' '),
          last ? `{${last.message}}${last.message}` : '',
          last ? `{${n(sum(minutes))} in ten minutes}${time(last.at)}` : '',
        ),
      ),
    ],
  }
}

export async function publishForm(facts: Facts, scene: Scene, channel: string): Promise<Claims> {
  const { channels } = await scene.site.engine.channels.list({})
  const ports = channels.filter(({ name }) => name === channel).flatMap(({ subscribers }) => subscribers)
  return {
    ...(await channelsPage(facts, scene)),
    '#preview': [`${n(ports.length)} ports would receive it.`],
  }
}

export async function callbacksPage(facts: Facts, { site: { engine } }: Scene): Promise<Claims> {
  const { callbacks } = await engine.callbacks.list({ limit: 50 })
  const { PENDING, IN_PROGRESS, DELIVERED, FAILED } = facts.callbacks
  return {
    '.head .note': [`${n(PENDING + IN_PROGRESS + DELIVERED + FAILED)} callbacks`],
    '.seg a': ['All', ...[PENDING, IN_PROGRESS, DELIVERED, FAILED].map(n)],
    'main tbody tr': callbacks.map(({ of, state, url, lastError, attempts, maxAttempts, createdAt, nextAt, endedAt }) =>
      row(
        state,
        `#${of}`,
        url,
        state === 'DELIVERED' ? `accepted ${time(endedAt!)}` : (lastError ?? '').replace(`${new URL(url).host}: `, ''),
        `${n(attempts)} of ${n(maxAttempts)}`,
        time(createdAt),
        state === 'FAILED' || state === 'DELIVERED' || nextAt === null ? 'none' : time(nextAt),
        state === 'FAILED'
          ? `{Resend the callback of job ${of}}Resend`
          : state === 'PENDING'
            ? `{Send now: the callback of job ${of}}Send now`
            : '',
      ),
    ),
  }
}

type Entry = Awaited<ReturnType<Scene['site']['engine']['log']['read']>>['entries'][number]

/** `withJob`: a log of several jobs names the job of each entry. */
export function logLine({ at, job, class: name, entry }: Entry, withJob = false): string {
  const { message, error, level: _, ...rest } = JSON.parse(String(entry))
  const text = `${message ?? error} ${Object.keys(rest).length > 0 ? JSON.stringify(rest) : ''}`
  return `{The entry of ${momentOf(at)}}${time(at)} ${withJob && job !== null ? `#${job} ${name}` : ''} ${text}`
}

const isEqual = (a: Entry, b: Entry): boolean =>
  a.level === b.level && a.class === b.class && String(a.entry) === String(b.entry)

/** A log of several jobs shows equal entries together, at the place of the newest entry. */
function groupsOf(entries: readonly Entry[]): Entry[][] {
  const groups: Entry[][] = []
  for (const entry of entries) {
    const group = groups.find(([first]) => isEqual(first!, entry))
    if (group) group.push(entry)
    else groups.push([entry])
  }
  return groups
}

const exactly = (at: number): string => new Date(at).toISOString().slice(11, 23)

const foldedOf = (groups: readonly Entry[][]): string[] =>
  groups
    .filter((of) => of.length > 2)
    .map((of) => `${n(of.length - 1)} more like this, since ${exactly(of.at(-1)!.at)}`)

export function foldedIn(entries: readonly Entry[]): string[] {
  const runs: Entry[][] = []
  for (const entry of entries) {
    const above = runs.at(-1)?.[0]
    if (above && isEqual(above, entry)) runs.at(-1)!.push(entry)
    else runs.push([entry])
  }
  return foldedOf(runs)
}

const LOG_CHART_COLUMNS = 40

export function slicesOf(entries: readonly Entry[]): { from: number; to: number; of: Entry[] }[] {
  const [first, last] = [entries.at(-1)?.at ?? 0, entries[0]?.at ?? 0]
  const width = Math.ceil((last + 1 - first) / LOG_CHART_COLUMNS)
  const within = (from: number) => entries.filter(({ at }) => at >= from && at < from + width)
  return Array.from({ length: LOG_CHART_COLUMNS }, (_, i) => first + (LOG_CHART_COLUMNS - 1 - i) * width)
    .map((from) => ({ from, to: from + width - 1, of: within(from) }))
    .filter(({ of }) => of.length > 0)
}

const said = (of: readonly Entry[], from: number, to: number): string =>
  `${of.length} from ${exactly(from)} to ${exactly(to)}; ${of.filter(({ level }) => level === 'error').length}`

export async function logPage(_: Facts, { site: { engine } }: Scene, level?: string): Promise<Claims> {
  const { entries, cursor } = await engine.log.read({ limit: MAX_LOG_ENTRIES, level })
  const labels = ['', '', '6h']
  const all = said(entries, entries.at(-1)!.at, entries[0]!.at)
  const groups = groupsOf(entries)
  const slices = slicesOf(entries).map(({ of, from, to }) => said(of, from, to))
  return {
    '.head .note': [`${n(entries.length)} ${cursor === null ? 'entries' : 'so far'}`],
    '.plot@aria-label': [all],
    '.plot .note': [all.replace(/.*; /, ''), `${exactly(entries.at(-1)!.at)} ${exactly(entries[0]!.at)}`],
    '.plot a@aria-label': slices,
    '.plot a title': slices,
    '.sifts input[type=search]@title': labels,
    '.sifts input[type=search]@aria-label': labels,
    'ol.log > li[id]@id': groups.flat().map(({ id }) => `e${id}`),
    'ol.log > li[id]': groups.flat().map((entry) => logLine(entry, true)),
    'ol.log summary': foldedOf(groups),
  }
}
