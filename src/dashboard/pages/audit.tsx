import { isObject } from '../../core/is-object.ts'
import { readObject } from '../../core/readable.ts'
import { durationText } from '../../core/time.ts'
import type { Engine } from '../../engine/index.ts'
import type { Asked } from '../page.ts'
import { Further } from '../parts/further.tsx'
import { Ago, Name, NameLink } from '../parts/layout.tsx'
import { type Column, DataTable } from '../parts/table.tsx'
import { neighbours } from '../words/neighbours.ts'
import { changeLimitPath, constraintPath, decoded, errorPath, jobPath, schedulePath } from '../words/paths.ts'
import { count, many, title } from '../words/text.ts'
import { kindsOf } from './jobs/kinds.tsx'

export type AuditEntry = Awaited<ReturnType<Engine['audit']['read']>>['entries'][number] & { message?: string }

/** Matches the part of an API path that is also the path of a page. */
const PAGE = /^\/v1(\/(?:jobs|flows|queues|groups)\/[^/?]+|\/workers\/[^/]+\/[^/?]+)/

const sessions: Readonly<Record<string, string>> = {
  open: 'Log in with a key',
  redeem: 'Log in with a link',
  link: 'Create a login link',
  end: 'Log out',
}

const membersOf = (json = '{}'): Record<string, unknown> => readObject(json) ?? {}

/** @example partsOf({ verb: 'limits.set', path: '/v1/limits/ai' }) // { act: 'Set', of: 'limits', name: 'ai' } */
function partsOf({ verb, path, change }: AuditEntry) {
  const [of = '', does = ''] = verb.split('.')
  if (of === 'sessions') return { act: sessions[does] ?? verb, of: '', name: '' }
  const [, , , ...names] = path.replace(/\?.*/, '').split('/')
  if (names.at(-1) === does) names.pop()
  const name = decoded(names.join('/'))
  if (verb === 'errors.patch') return { act: membersOf(change).muted ? 'Mute' : 'Unmute', of, name }
  const words = does === 'patch' ? 'change' : does.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return { act: title(words), of, name }
}

function whatOf(entries: readonly AuditEntry[]): string {
  const { action, jobs } = membersOf(entries[0]!.change)
  if (action) return `${title(String(action))} ${jobs ? many(Number(jobs), 'job') : 'matching jobs'}`
  const { act, of, name } = partsOf(entries[0]!)
  const said = entries[0]!.message ?? name
  const n = entries.length
  const acts = new Set(entries.map((entry) => partsOf(entry).act))
  if (n > 1) return of ? `${act} ${count(n)} ${of}` : `${[...acts].join(', ')}: ${count(n)} entries`
  return [act, of.replace(/(?<=ss)es$|(?<!s)s$/, ''), said].filter(Boolean).join(' ')
}

function pathOf(entry: AuditEntry): string | undefined {
  const { of, name } = partsOf(entry)
  if (entry.method === 'DELETE' || !name) return undefined
  if (of === 'errors') return errorPath(name)
  if (of === 'limits') return changeLimitPath(name)
  if (of === 'constraints') return constraintPath(name)
  if (of === 'schedules') return /^\d+$/.test(name) ? jobPath(name) : schedulePath(name)
  return PAGE.exec(entry.path)?.[1]
}

const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  if (isObject(value))
    return Object.entries(value)
      .map(([name, one]) => `${name} ${textOf(name === 'period' && typeof one === 'number' ? durationText(one) : one)}`)
      .join(', ')
  return value === null ? 'none' : String(value)
}

/** @example memberText('paused', false, true) // 'paused' */
function memberText(name: string, was: unknown, is: unknown): string {
  if (typeof is === 'boolean') return is ? name : `not ${name}`
  const then = was === undefined || was === null ? '' : `${textOf(was)} → `
  return `${name}${isObject(is) ? ':' : ''} ${then}${textOf(is)}`
}

/** A long change is stored only in part, so it may not be JSON. */
function changeOf({ change, was, reason }: AuditEntry): string {
  const before = membersOf(was)
  const { action, jobs: _, muted, ...now } = membersOf(change)
  const members = Object.entries(now)
    .filter(([name, value]) => !(name in before) || textOf(before[name]) !== textOf(value))
    .map(([name, value]) => memberText(name, before[name], value))
  return [members.join('; ') || (!action && muted === undefined && change), reason].filter(Boolean).join(' · ')
}

/** Equal consecutive entries without a change or a reason, such as logins, share a row. */
const rowsOf = (entries: readonly AuditEntry[]) =>
  neighbours(
    entries,
    (entry) => `${partsOf(entry).of && entry.verb} ${entry.name} ${(entry.change ?? entry.reason) && entry.id}`,
  )

const columns: readonly Column<AuditEntry[]>[] = [
  {
    head: 'What',
    title: (entries) => entries.map(({ method, path }) => `${method} ${path}`).join('\n'),
    cell(entries) {
      const to = entries.length === 1 && pathOf(entries[0]!)
      const what = whatOf(entries)
      return to ? <NameLink to={to} of={what} most={70} /> : <Name of={what} most={70} />
    },
  },
  {
    head: 'Change',
    kind: 'fill dim',
    cell: ([entry, ...more]) => (
      <Name
        of={more.length > 0 ? [entry!, ...more].flatMap((one) => partsOf(one).name || []).join(', ') : changeOf(entry!)}
        most={140}
      />
    ),
  },
  { head: 'Who', cell: ([entry]) => <Name of={entry!.name} most={30} /> },
  { head: '#When', label: false, cell: ([entry]) => <Ago at={entry!.at} /> },
]

const isWanted = (wanted: string, entry: AuditEntry): boolean =>
  !wanted ||
  [entry.name, entry.verb, entry.path, whatOf([entry]), changeOf(entry)]
    .join(' ')
    .toLowerCase()
    .includes(wanted.toLowerCase())

const [ROWS, READ] = [50, 500]

export async function loadAudit(asked: Asked) {
  const { engine, query } = asked
  const wanted = query.get('q')?.trim() ?? ''
  const { entries, cursor } = await engine.audit.read({ limit: READ, cursor: query.get('cursor') ?? undefined })
  const { kinds = [], muted = [] } = entries.some(({ verb }) => verb === 'errors.patch') ? await kindsOf(asked) : {}
  const messages = new Map([...kinds, ...muted].map(({ error, message }) => [`/v1/errors/${error}`, message]))
  const named = entries.map((entry) => ({ ...entry, message: messages.get(entry.path) }))
  const rows = rowsOf(named.filter((entry) => isWanted(wanted, entry)))
  const shown = rows.slice(0, ROWS)
  return { wanted, read: entries.length, rows: shown, cursor: rows.length > ROWS ? shown.at(-1)!.at(-1)!.id : cursor }
}

type Loaded = Awaited<ReturnType<typeof loadAudit>>

export const noteOf = ({ wanted, read, rows }: Loaded): string | undefined =>
  wanted ? `${many(rows.length, 'row matches', 'rows match')} in ${many(read, 'change')}` : undefined

export function Audit({ of: { wanted, rows, cursor } }: { of: Loaded }) {
  return (
    <>
      <DataTable
        caption="Audit log"
        empty={wanted ? 'No changes match.' : 'No changes yet.'}
        rows={rows}
        columns={columns}
        kind="lined audit"
        grows
      />
      <Further cursor={cursor} more="older changes" rows={rows.length} limit={ROWS} />
    </>
  )
}
