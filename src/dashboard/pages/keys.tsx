import { SidejobError } from '../../core/errors.ts'
import type { ApiKey, Scope } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import { may } from '../look.ts'
import { page } from '../page.ts'
import { Act } from '../parts/act.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Ago, Card, Head, Link, Name } from '../parts/layout.tsx'
import { type Column, DataTable } from '../parts/table.tsx'
import { given } from '../words/form.ts'
import { many } from '../words/text.ts'

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
  { head: '#Made', cell: ({ createdAt }) => <Ago at={createdAt} word="made" /> },
  {
    head: '#Last used',
    cell: ({ lastUsedAt }) =>
      lastUsedAt === undefined ? <span class="dimmer">never used</span> : <Ago at={lastUsedAt} word="used" />,
  },
  { head: '#Ends', cell: ({ expiresAt }) => expiresAt !== undefined && <Ago at={expiresAt} word="ends" /> },
  {
    head: '#Acts',
    cell: ({ id, name }) => (
      <Act act="remove" scope="admin" fields={{ id, name }} kind="danger" small label={`Revoke ${name}`}>
        Revoke
      </Act>
    ),
  },
]

type AuditEntry = Awaited<ReturnType<Engine['audit']['read']>>['entries'][number]

const changes: readonly Column<AuditEntry>[] = [
  { head: 'Method', kind: 'mono', cell: ({ verb }) => verb },
  { head: 'Path', kind: 'fill', cell: ({ path }) => <Name of={path} most={60} /> },
  {
    head: 'Change',
    kind: 'dim',
    cell: ({ change, reason }) => <Name of={[change, reason].filter(Boolean).join(' · ')} />,
  },
  { head: 'By', cell: ({ name }) => <Name of={name} most={30} /> },
  { head: '#When', cell: ({ at }) => <Ago at={at} /> },
]

const SHOWN = 50

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

export const keys = page<{ keys: ApiKey[]; entries?: AuditEntry[] }>({
  path: '/settings/keys',
  nav: 'keys',
  every: 0,
  async load({ engine, look }) {
    const [{ keys }, audit] = await Promise.all([
      engine.keys.list(),
      may(look, 'admin') ? engine.audit.read({ limit: SHOWN }) : undefined,
    ])
    return { keys, entries: audit?.entries }
  },
  title: () => 'Keys',
  View: ({ data: { keys, entries } }) => (
    <>
      <Head title="Keys" note={many(keys.length, 'API key')}>
        {entries && <Link to="/settings/keys#audit">Audit</Link>}
      </Head>
      <div class="cols c21">
        <Card>
          <DataTable
            caption="API keys"
            empty="The only key is the key of the deployment."
            rows={keys}
            columns={columns}
            isPlain
            kind="lined"
          />
        </Card>
        <MakeForm />
      </div>
      {entries && (
        <Card title="Audit" id="audit" right={`newest ${SHOWN}`}>
          <DataTable caption="Audit log" empty="No changes yet." rows={entries} columns={changes} />
        </Card>
      )}
    </>
  ),
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
