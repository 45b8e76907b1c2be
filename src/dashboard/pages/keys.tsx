import { isObject } from '../../core/is-object.ts'
import { readObject } from '../../core/readable.ts'
import { duration } from '../../core/time.ts'
import type { ApiKey, Scope } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import { may } from '../look.ts'
import { type Asked, page } from '../page.ts'
import { Act, LinkButton } from '../parts/act.tsx'
import { Field } from '../parts/field.tsx'
import { FormCard } from '../parts/form-card.tsx'
import { Ago, Card, Choice, Head, Name, NameLink } from '../parts/layout.tsx'
import { Search } from '../parts/search.tsx'
import { type Column, DataTable } from '../parts/table.tsx'
import { given, maybe, unexpected } from '../words/form.ts'
import { neighbours } from '../words/neighbours.ts'
import { decoded } from '../words/paths.ts'
import { atLeast, count, many, title } from '../words/text.ts'

const scopes: readonly [Scope, string][] = [
  ['read', 'sees everything, changes nothing'],
  ['write', 'creates, changes and ends jobs'],
  ['work', 'claims and commits runs'],
  ['admin', 'everything, including queues, limits and keys'],
]

const columns: readonly Column<ApiKey>[] = [
  {
    head: 'Name',
    cell: ({ name }) => (
      <b>
        <Name of={name} most={40} />
      </b>
    ),
  },
  {
    head: 'Scopes',
    cell: ({ scopes }) =>
      scopes.map((scope) => (
        <>
          <span class="tag">{scope}</span>{' '}
        </>
      )),
  },
  { head: 'Id', kind: 'fill dim mono keyid', cell: ({ id }) => id },
  { head: '#Created', label: 'created', cell: ({ createdAt }) => <Ago at={createdAt} /> },
  {
    head: '#Last used',
    label: 'last used',
    cell: ({ lastUsedAt }) =>
      lastUsedAt === undefined ? <span class="st suspended">never</span> : <Ago at={lastUsedAt} />,
  },
  {
    head: '#Expires',
    label: 'expires',
    cell: ({ expiresAt }) => (expiresAt === undefined ? <span class="dimmer">never</span> : <Ago at={expiresAt} />),
  },
  {
    head: '-Acts',
    kind: 'num',
    cell: ({ id, name }) => (
      <Act act="remove" scope="admin" fields={{ id, name }} kind="danger" small label={`Revoke ${name}`}>
        Revoke
      </Act>
    ),
  },
]

type AuditEntry = Awaited<ReturnType<Engine['audit']['read']>>['entries'][number]

/** Matches the part of an API path that is also the path of a page. */
const PAGE = /^\/v1(\/(?:jobs|flows|queues|groups)\/[^/?]+|\/workers\/[^/]+\/[^/?]+)/

const sessions: Readonly<Record<string, string>> = {
  open: 'Log in with a key',
  redeem: 'Log in with a link',
  link: 'Create a login link',
  end: 'Log out',
}

/** @example partsOf({ verb: 'limits.set', path: '/v1/limits/ai' }) // { act: 'Set', of: 'limits', name: 'ai' } */
function partsOf({ verb, path }: AuditEntry) {
  const [of = '', does = ''] = verb.split('.')
  if (of === 'sessions') return { act: sessions[does] ?? verb, of: '', name: '' }
  const [, , , ...names] = path.replace(/\?.*/, '').split('/')
  if (names.at(-1) === does) names.pop()
  const words = does === 'patch' ? 'change' : does.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return { act: title(words), of, name: decoded(names.join('/')) }
}

function whatOf(entries: readonly AuditEntry[]): string {
  const { action, jobs } = membersOf(entries[0]!.change)
  if (action) return `${title(String(action))} ${jobs ? many(Number(jobs), 'job') : 'matching jobs'}`
  const { act, of, name } = partsOf(entries[0]!)
  const n = entries.length
  const acts = new Set(entries.map((entry) => partsOf(entry).act))
  if (n > 1) return of ? `${act} ${count(n)} ${of}` : `${[...acts].join(', ')}: ${count(n)} entries`
  return [act, of.replace(/(?<=ss)es$|(?<!s)s$/, ''), name].filter(Boolean).join(' ')
}

const membersOf = (json = '{}'): Record<string, unknown> => readObject(json) ?? {}

const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  if (isObject(value))
    return Object.entries(value)
      .flatMap(([name, one]) => [name, textOf(one)])
      .join(' ')
  return value === null ? 'none' : String(value)
}

/** A long change is stored only in part, so it may not be JSON. */
function changeOf({ change, was, reason }: AuditEntry): string {
  const before = membersOf(was)
  const { action, jobs: _, ...now } = membersOf(change)
  const members = Object.entries(now).flatMap(([name, value]) => {
    const [then, now] = [name in before ? textOf(before[name]) : undefined, textOf(value)]
    return then === now ? [] : `${name} ${then === undefined ? '' : `${then} → `}${now}`
  })
  return [members.join('; ') || (!action && change), reason].filter(Boolean).join(' · ')
}

/** Equal consecutive entries without a stored change share a row, such as logins. */
const rowsOf = (entries: readonly AuditEntry[]) =>
  neighbours(
    entries,
    (entry) => `${partsOf(entry).of && entry.verb} ${entry.name} ${(entry.change ?? entry.reason) && entry.id}`,
  )

const changes: readonly Column<AuditEntry[]>[] = [
  {
    head: 'What',
    title: (entries) => entries.map(({ method, path }) => `${method} ${path}`).join('\n'),
    cell(entries) {
      const to = entries.length === 1 && PAGE.exec(entries[0]!.path)?.[1]
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
  { head: '#When', cell: ([entry]) => <Ago at={entry!.at} /> },
]

const [SHOWN, READ] = [50, 500]

const isWanted = (wanted: string, entry: AuditEntry): boolean =>
  [entry.name, entry.verb, entry.path, whatOf([entry]), changeOf(entry)]
    .join(' ')
    .toLowerCase()
    .includes(wanted.toLowerCase())

const MakeForm = () => (
  <FormCard title="New key" act="make" scope="admin" press="Create key" at="/settings/keys">
    <div class="cronf">
      <Field name="name" label="Name" note="the person or program that uses it" required />
      <Field name="expires" label="Expires after" note="empty: never" placeholder="90d" />
    </div>
    <fieldset>
      <legend>Scopes</legend>
      {scopes.map(([scope, text]) => (
        <label class="rowf">
          <input
            type="checkbox"
            class="check"
            name="scope"
            data-path="scopes"
            value={scope}
            checked={scope === 'read'}
          />
          <b>{scope}</b> <span class="dim">{text}</span>
        </label>
      ))}
    </fieldset>
  </FormCard>
)

async function load({ engine, look, query }: Asked) {
  const q = query.get('q')
  const wanted = q?.trim() ?? ''
  const hasAudit = may(look, 'admin')
  const [{ keys }, audit] = await Promise.all([
    engine.keys.list(),
    hasAudit && (query.has('audit') || q !== null) ? engine.audit.read({ limit: wanted ? READ : SHOWN }) : undefined,
  ])
  const entries = audit?.entries.filter((entry) => isWanted(wanted, entry)).slice(0, SHOWN)
  return { keys, entries, wanted, hasAudit }
}

export const keys = page({
  path: '/settings/keys',
  nav: 'keys',
  every: 0,
  load,
  title: ({ entries }) => (entries ? 'Audit' : 'Keys'),
  View: ({ data: { keys, entries, wanted, hasAudit }, query }) => (
    <>
      <Head
        title={entries ? 'Audit' : 'Keys'}
        note={
          !entries
            ? `${many(keys.length, 'API key')}, ${count(keys.filter((key) => !key.lastUsedAt).length)} never used`
            : wanted
              ? `${atLeast(entries.length, entries.length === SHOWN)} in the newest ${READ}`
              : `newest ${SHOWN} changes`
        }
      >
        {entries && <Search label="Filter changes" value={wanted} />}
        {hasAudit && (
          <Choice
            label="Content of the list"
            options={[
              { text: 'Keys', to: '/settings/keys', on: !entries },
              { text: 'Audit', to: '/settings/keys?audit', on: entries !== undefined },
            ]}
          />
        )}
        {!entries && (
          <LinkButton to="/settings/keys?new" scope="admin" icon="plus" kind="primary" hotkey="c">
            New key
          </LinkButton>
        )}
      </Head>
      {query.has('new') && <MakeForm />}
      <Card>
        {entries ? (
          <DataTable
            caption="Audit log"
            empty={wanted ? 'No changes match.' : 'No changes yet.'}
            rows={rowsOf(entries)}
            columns={changes}
            kind="lined"
          />
        ) : (
          <>
            {keys.length > 0 && <DataTable caption="API keys" rows={keys} columns={columns} kind="lined" />}
            <p class="note foot">
              The key of the deployment (<code>SIDEJOB_API_KEY</code>) has all scopes and is not listed. Give each
              person and program its own key.
            </p>
          </>
        )}
      </Card>
    </>
  ),
  acts: {
    make: {
      scope: 'admin',
      async does({ form, call }) {
        const chosen = form.getAll('scope').map(String)
        if (chosen.length === 0) throw unexpected('scope', 'at least one, got none')
        const name = given(form, 'name')
        const lasts = maybe(form, 'expires')
        const expiresAt = lasts && Date.now() + duration(lasts)
        const { key } = (await call('POST', '/v1/keys', { name, scopes: chosen, expiresAt })) as { key: string }
        return { say: `Key ${name} created. Copy it now: it is shown only once.`, secret: key }
      },
    },
    remove: {
      scope: 'admin',
      confirm: ({ form }) => ({
        title: `Revoke key ${given(form, 'name')}?`,
        text: ['This ends the sessions of the key, and requests with the key will be refused. It cannot be undone.'],
        verb: 'Revoke it',
        type: given(form, 'name'),
      }),
      async does({ form, call }) {
        await call('DELETE', `/v1/keys/${encodeURIComponent(given(form, 'id'))}`)
        return { say: `Key ${given(form, 'name')} revoked` }
      },
    },
  },
})
