import { SidejobError } from '../../core/errors.ts'
import { readObject } from '../../core/readable.ts'
import type { ApiKey, Scope } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import { may } from '../look.ts'
import { page } from '../page.ts'
import { Act } from '../parts/act.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Ago, Card, Head, Link, Name, NameLink } from '../parts/layout.tsx'
import { Search } from '../parts/search.tsx'
import { type Column, DataTable } from '../parts/table.tsx'
import { given } from '../words/form.ts'
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

/** The beginning of a path that is also a page. */
const PAGE = /^\/v1(\/(?:jobs|flows|queues|groups)\/[^/?]+|\/workers\/[^/]+\/[^/?]+)/

const sessions: Readonly<Record<string, string>> = {
  open: 'Log in with a key',
  redeem: 'Log in with a link',
  link: 'Create a login link',
  end: 'Log out',
}

/** `limits.set` at `/v1/limits/openai` is `Set limit openai`. */
function whatOf({ verb, path }: AuditEntry): string {
  const [resource = '', does = ''] = verb.split('.')
  if (resource === 'sessions') return sessions[does] ?? verb
  const [, , , ...names] = path.replace(/\?.*/, '').split('/')
  if (names.at(-1) === does) names.pop()
  const one = resource.replace(/(?<=ss)es$|(?<!s)s$/, '')
  const words = does === 'patch' ? 'change' : does.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return [title(words), one, decoded(names.join('/'))].join(' ')
}

const membersOf = (json = '{}'): Record<string, unknown> => readObject(json) ?? {}

const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  return typeof value === 'string' ? value : value === null ? 'none' : JSON.stringify(value)
}

/** A long change is stored only in part, so it may not be JSON. */
function changeOf({ change, was, reason }: AuditEntry): string {
  const before = membersOf(was)
  const members = Object.entries(membersOf(change)).map(([name, value]) => {
    const now = textOf(value)
    return `${name} ${name in before ? `${textOf(before[name])} → ${now}` : now}`
  })
  return [members.join('; ') || change, reason].filter(Boolean).join(' · ')
}

const changes: readonly Column<AuditEntry>[] = [
  {
    head: 'What',
    title: ({ method, path }) => `${method} ${path}`,
    cell(entry) {
      const to = PAGE.exec(entry.path)?.[1]
      const what = whatOf(entry)
      return to ? <NameLink to={to} of={what} most={70} /> : <Name of={what} most={70} />
    },
  },
  { head: 'Change', kind: 'fill dim', cell: (entry) => <Name of={changeOf(entry)} most={140} /> },
  { head: 'Who', cell: ({ name }) => <Name of={name} most={30} /> },
  { head: '#When', cell: ({ at }) => <Ago at={at} /> },
]

/** Shown entries, and entries that a filter reads. */
const [SHOWN, READ] = [50, 500]

const isWanted = (wanted: string, entry: AuditEntry): boolean =>
  [entry.name, entry.verb, entry.path, whatOf(entry), changeOf(entry)]
    .join(' ')
    .toLowerCase()
    .includes(wanted.toLowerCase())

function MakeForm() {
  return (
    <Card title="New key">
      <Form act="make" scope="admin" press="Create key">
        <Field name="name" label="Name" note="the person or program that uses it" required />
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
      </Form>
    </Card>
  )
}

type AuditProps = { entries: readonly AuditEntry[]; wanted: string }

const Audit = ({ entries, wanted }: AuditProps) => (
  <Card
    title="Audit"
    id="audit"
    right={
      <>
        {wanted ? `${atLeast(entries.length, entries.length === SHOWN)} in the newest ${READ}` : `newest ${SHOWN}`}
        <Search at="/settings/keys#audit" label="Filter changes" value={wanted} />
      </>
    }
  >
    <DataTable
      caption="Audit log"
      empty={wanted ? 'No changes match.' : 'No changes yet.'}
      rows={entries}
      columns={changes}
      kind="lined"
    />
  </Card>
)

export const keys = page<Partial<AuditProps> & { keys: ApiKey[]; wanted: string }>({
  path: '/settings/keys',
  nav: 'keys',
  every: 0,
  async load({ engine, look, query }) {
    const wanted = query.get('q')?.trim() ?? ''
    const [{ keys }, audit] = await Promise.all([
      engine.keys.list(),
      may(look, 'admin') ? engine.audit.read({ limit: wanted ? READ : SHOWN }) : undefined,
    ])
    return { keys, wanted, entries: audit?.entries.filter((entry) => isWanted(wanted, entry)).slice(0, SHOWN) }
  },
  title: () => 'Keys',
  View({ data: { keys, entries, wanted } }) {
    const audit = entries && <Audit entries={entries} wanted={wanted} />
    return (
      <>
        <Head
          title="Keys"
          note={`${many(keys.length, 'API key')}, ${count(keys.filter((key) => !key.lastUsedAt).length)} never used`}
        >
          {entries && <Link to="/settings/keys#audit">Audit</Link>}
        </Head>
        {wanted && <div class="cols">{audit}</div>}
        <div class="cols c21">
          <Card>
            {keys.length > 0 && <DataTable caption="API keys" rows={keys} columns={columns} kind="lined" />}
            <p class="note foot">
              The key of the deployment (<code>SIDEJOB_API_KEY</code>) has all scopes and is not listed. Give each
              person and program its own key.
            </p>
          </Card>
          <MakeForm />
        </div>
        {!wanted && audit}
      </>
    )
  },
  acts: {
    make: {
      scope: 'admin',
      async does({ form, call }) {
        const chosen = form.getAll('scope').map(String)
        if (chosen.length === 0)
          throw new SidejobError('BAD_REQUEST', 'scope: expected at least one, got none', { path: ['scope'] })
        const name = given(form, 'name')
        const { key } = (await call('POST', '/v1/keys', { name, scopes: chosen })) as { key: string }
        return { say: `Key ${name} created. Copy it now: it is shown only once.`, secret: key }
      },
    },
    remove: {
      scope: 'admin',
      confirm: ({ form }) => ({
        title: `Revoke key ${given(form, 'name')}?`,
        text: ['Requests with this key will be refused, and its sessions end. This cannot be undone.'],
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
