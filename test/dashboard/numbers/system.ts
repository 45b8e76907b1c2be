import { type Facts, having, messageOf, waitingIn } from './facts.ts'
import type { Scene } from './scene.ts'
import type { Claims } from './survey.ts'
import { arranged, clockOf, cut, DAY, HOUR, hourOf, MINUTE, n, row, sum, time, whileLoading } from './words.ts'

export async function keysPage(_: Facts, { site: { engine } }: Scene): Promise<Claims> {
  const { keys } = await engine.keys.list()
  const timeOf = (at: number | undefined) => (at === undefined ? '' : time(at))
  return {
    '.head .note': [`${n(keys.length)} API keys, ${n(keys.filter((key) => !key.lastUsedAt).length)} never used`],
    'main tbody tr': keys.map(({ id, name, createdAt, lastUsedAt, expiresAt }) =>
      row(name, '', id, time(createdAt), timeOf(lastUsedAt), timeOf(expiresAt), `{Revoke ${name}, ${id}}Revoke`),
    ),
  }
}

export async function auditPage(_: Facts, { site: { engine } }: Scene): Promise<Claims> {
  const { entries } = await engine.audit.read({ limit: 500 })
  const groups: (typeof entries)[] = []
  for (const entry of entries) {
    const above = groups.at(-1)?.[0]
    const isEqual = above && !entry.change && !entry.reason && !above.change && !above.reason
    const isLogin = [above, entry].every((one) => one?.verb.startsWith('sessions.'))
    if (isEqual && (isLogin || above.verb === entry.verb) && above.name === entry.name) groups.at(-1)!.push(entry)
    else groups.push([entry])
  }
  const namesOf = ({ path }: (typeof entries)[number]) => path.split('/').slice(3).map(decodeURIComponent).join('/')
  return {
    'main tbody tr': groups.slice(0, 50).map((equal) => {
      const [{ change, was, reason, name, at }] = equal as [(typeof entries)[number]]
      const paths = equal.map(({ method, path }) => `${method} ${path}`).join(' ')
      if (equal.length > 1)
        return row(`{${paths}}${n(equal.length)}`, cut(equal.map(namesOf).join(', '), 140), cut(name, 30), time(at))
      const [now, before] = [change, was].map((text) => Object.entries<unknown>(JSON.parse(text ?? '{}')))
      const shown = (value: unknown) => (value === null ? 'none' : JSON.stringify(value))
      const members = now!.flatMap(([name, value], i) => {
        const [then, text] = [before![i] && shown(before![i][1]), shown(value)]
        if (then === text) return []
        if (typeof value === 'boolean') return value ? name : `not ${name}`
        return `${name} ${then === undefined || then === 'none' ? '' : `${then} → `}${text}`
      })
      return row(`{${paths}}${namesOf(equal[0]!)}`, [...members, reason ?? ''].join('; '), cut(name, 30), time(at))
    }),
  }
}

type Check = { word: string; text: string; ok: boolean }

const unclaimedIn = (facts: Facts): string[] =>
  facts.queues
    .filter(({ paused, oldestReady }) => !paused && oldestReady !== null && facts.now - oldestReady > MINUTE)
    .flatMap(({ name, oldestReady }) => {
      const { pull } = waitingIn(facts, { queue: name })
      return pull > 0 ? `${n(pull)} jobs wait in queue ${name}, for ${time(oldestReady!)}` : []
    })

function checksOf(facts: Facts, withExamined: boolean): Check[] {
  const { now, health, series } = facts
  const { tickAt, bellAt, problems = [], restored, examined } = health
  const timeOf = (at: number | null | undefined) => (typeof at === 'number' ? time(at) : '')
  const lost = sum(series.points.filter(({ at }) => at > now - HOUR).map((one) => one.lost))
  const unclaimed = unclaimedIn(facts)
  const faults = examined ? sum(Object.values(examined.faults)) : 0
  const found = faults > 0 ? `${n(faults)} faults, at ${Object.values(examined!.faults).join(', ')}` : ''
  const check = (word: string, ok: boolean, text: string): Check => ({ word, ok, text })
  return [
    check('responds in', true, whileLoading),
    check('Bells', problems.length === 0, `${problems.length > 0 ? n(problems.length) : ''} ${timeOf(bellAt)}`),
    ...(tickAt === undefined ? [] : [check('Tick', tickAt !== null && now - tickAt <= 3 * MINUTE, timeOf(tickAt))]),
    check(
      'recent data',
      !restored,
      restored ? `${timeOf(restored.noticedAt)} ${restored.lost.from} to ${restored.lost.to}` : '',
    ),
    check('Runs', lost === 0, lost === 0 ? '' : n(lost)),
    check('Pull workers', unclaimed.length === 0, unclaimed.join('; ')),
    ...(withExamined && examined ? [check('Jobs', faults === 0, `${time(examined.at)}: ${found}`)] : []),
  ]
}

function statusOf(facts: Facts, withExamined: boolean): Claims {
  const checks = checksOf(facts, withExamined)
  const wrong = checks.filter(({ ok }) => !ok).length
  return {
    'main .card > header .right': [`version ${facts.health.version}`],
    '.head .note': [wrong === 0 ? '' : `${n(wrong)} problems`],
    '.card:has(.checks) h2': [...(wrong > 0 ? [''] : []), `${n(checks.length - wrong)} checks passed`],
    '.checks li': arranged(Object.fromEntries(checks.map(({ word, text }) => [word, text]))),
  }
}

export const doctorPage = (facts: Facts): Claims => statusOf(facts, true)

export async function examinedPage(facts: Facts, { site: { engine } }: Scene, isWhole: boolean): Promise<Claims> {
  const all = n(facts.jobs.length)
  const first = n((await engine.doctor.examine()).jobs)
  return {
    ...statusOf(facts, false),
    '#examined h2': [`No faults in ${isWhole ? all : first} jobs`],
    '#slices .word': [isWhole ? 'All jobs are checked' : `${first} of ${all} jobs checked`],
  }
}

export async function filesPage(_: Facts, { call, kept, site: { engine } }: Scene): Promise<Claims> {
  const { files, total } = (await call('GET', '/v1/files?total=true')) as unknown as {
    files: { id: string; size: number; job: number; type: string; storedAt: string }[]
    total: { files: number; bytes: number }
  }
  const { jobs } = await engine.jobs.list({ queue: 'files', class: 'reap', limit: 10 })
  const endOf = (id: string) => time(jobs.find(({ args }) => String(args).includes(id))!.runAt!)
  const classes = await Promise.all(files.map(async ({ job }) => (await engine.jobs.get(String(job))).class))
  const rows = files.map((file, i) => ({ ...file, stored: Date.parse(file.storedAt), by: classes[i]! }))
  return {
    '.head .note': [`${n(total.files)} files, ${n(total.bytes)} bytes`],
    'main tbody tr': rows
      .toSorted((a, b) => b.stored - a.stored)
      .map(({ id, size, job, type, stored, by }) =>
        row(
          id,
          type,
          `${n(size)} bytes`,
          `${by} #${job}`,
          time(stored),
          id === kept ? 'never' : endOf(id),
          `{Download ${id}}Download{Remove ${id}}`,
        ),
      ),
  }
}

const SLOT_TIME_OF_DAY = 3 * HOUR
const MARK_EVERY = 4 * HOUR

export async function schedulesPage({ now }: Facts, { site: { engine } }: Scene): Promise<Claims> {
  const { schedules } = await engine.schedules.list({ limit: 100 })
  const of = (name: 'paused' | 'failing') => n(schedules.filter((one) => one[name]).length)
  const today = Math.floor(now / DAY) * DAY + SLOT_TIME_OF_DAY
  const next = today > now ? today : today + DAY
  const isShown = next - now < 12 * HOUR
  const ticks = Array.from({ length: 6 }, (_, i) => Math.ceil((now - 12 * HOUR) / MARK_EVERY + i) * MARK_EVERY)
  const placeOf = (at: number) => ((at - now) / DAY) * 100 + 50
  const isFree = (at: number) => placeOf(at) > 6 && placeOf(at) < 94 && Math.abs(placeOf(at) - 50) > 11
  return {
    '.head .note': [[n(schedules.length), of('failing'), of('paused')].filter((one) => one !== '0').join(' ')],
    '.trk:not(.hd) svg[aria-label]@aria-label': schedules.map(({ paused }) => n(Number(isShown && !paused))),
    '.trk.hd text': [...ticks.filter(isFree).map(hourOf), 'now'],
    '.sch': schedules.map(
      ({ job, repeat, lastRun }) =>
        `#${job} ${lastRun ? time(lastRun.endedAt) : ''} {${repeat}}At ${hourOf(SLOT_TIME_OF_DAY)}`,
    ),
    '.nxt:not(.hd)': schedules.map(({ paused }) => (paused ? 'paused' : `${time(next)} ${clockOf(next)}`)),
  }
}

export async function findPage(facts: Facts, { site: { engine } }: Scene, text: string): Promise<Claims> {
  const { jobs, cursor, newest } = await engine.jobs.rows({ text, limit: 5, lookAt: 250 })
  const kinds = facts.errors.filter((one) => [one.message, one.example, one.class].some((part) => part?.includes(text)))
  const failedOf = (kind: (typeof kinds)[number]) =>
    having(facts, { class: kind.class, status: 'failed' }).filter((job) => messageOf(job) === kind.message)
  return {
    '.head .note': [`${kinds.length + jobs.length} for “${text}”`],
    '.found .right': [
      ...kinds.map((kind) => `${n(failedOf(kind).length)} failed jobs`),
      ...jobs.map(({ status, message }) => `${status} job, ${message}`),
      'ended jobs',
      'files',
      cursor === null ? 'searched all jobs' : `searched the newest ${n(newest! - Number(cursor) + 1)} of ${n(newest!)}`,
    ],
  }
}
