import { duration } from '../../core/time.ts'
import type { ApiKey, Scope } from '../../engine/engine.ts'
import { may } from '../look.ts'
import { type Asked, page } from '../page.ts'
import { Act, LinkButton } from '../parts/act.tsx'
import { Field } from '../parts/field.tsx'
import { FormCard } from '../parts/form-card.tsx'
import { Ago, Card, Choice, Head, Name } from '../parts/layout.tsx'
import { Search } from '../parts/search.tsx'
import { type Column, DataTable } from '../parts/table.tsx'
import { given, maybe, unexpected } from '../words/form.ts'
import { apiPath } from '../words/paths.ts'
import { count, many } from '../words/text.ts'
import { Audit, loadAudit, noteOf } from './audit.tsx'

const scopes: readonly [Scope, string][] = [
  ['read', 'sees all pages except the audit log, changes nothing'],
  ['write', 'creates, changes and ends jobs'],
  ['work', 'claims and commits runs'],
  ['admin', 'everything, including queues, limits and keys'],
]

const columns: readonly Column<ApiKey>[] = [
  { head: 'Name', cell: ({ name }) => <Name of={name} most={40} isMain /> },
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
  { head: '#Created', cell: ({ createdAt }) => <Ago at={createdAt} /> },
  {
    head: '#Last used',
    cell: ({ lastUsedAt }) =>
      lastUsedAt === undefined ? <span class="st suspended">never</span> : <Ago at={lastUsedAt} />,
  },
  {
    head: '#Expires',
    cell: ({ expiresAt }) => (expiresAt === undefined ? <span class="dimmer">never</span> : <Ago at={expiresAt} />),
  },
  {
    head: '-Acts',
    kind: 'num',
    cell: ({ id, name }) => (
      <Act act="remove" scope="admin" fields={{ id, name }} kind="danger" small label={`Revoke ${name}, ${id}`}>
        Revoke
      </Act>
    ),
  },
]

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

async function load(asked: Asked) {
  const { engine, look, query } = asked
  const hasAudit = may(look, 'admin')
  const isAudit = hasAudit && (query.has('audit') || query.has('q'))
  const [{ keys }, audit] = await Promise.all([engine.keys.list(), isAudit ? loadAudit(asked) : undefined])
  return { keys, audit, hasAudit }
}

export const keys = page({
  path: '/settings/keys',
  nav: 'keys',
  every: 0,
  load,
  title: ({ audit }) => (audit ? 'Audit' : 'Keys'),
  View: ({ data: { keys, audit, hasAudit }, look, query }) => (
    <>
      <Head
        title={audit ? 'Audit' : 'Keys'}
        note={
          audit
            ? noteOf(audit)
            : `${many(keys.length, 'API key')}, ${count(keys.filter((key) => !key.lastUsedAt).length)} never used`
        }
      >
        {audit && <Search label="Filter changes" value={audit.wanted} />}
        {hasAudit && (
          <Choice
            label="Content of the list"
            options={[
              { text: 'Keys', to: '/settings/keys', on: !audit },
              { text: 'Audit', to: '/settings/keys?audit', on: audit !== undefined },
            ]}
          />
        )}
        {!audit && (
          <LinkButton to="/settings/keys?new" scope="admin" icon="plus" kind="primary" hotkey="c">
            New key
          </LinkButton>
        )}
      </Head>
      {query.has('new') && <MakeForm />}
      <Card>
        {audit ? (
          <Audit of={audit} />
        ) : (
          <>
            {keys.length > 0 && <DataTable caption="API keys" rows={keys} columns={columns} kind="lined" />}
            <p class="note foot">
              {look.tenant === undefined && (
                <>
                  The key of the deployment (<code>SIDEJOB_API_KEY</code>) has all scopes and is not listed.{' '}
                </>
              )}
              Give each person and program its own key.
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
        const { key } = await call<{ key: string }>('POST', '/v1/keys', { name, scopes: chosen, expiresAt })
        return { say: `Key ${name} created. Copy it now: it is shown only once.`, secret: key }
      },
    },
    remove: {
      scope: 'admin',
      confirm: ({ form }) => ({
        title: `Revoke key ${given(form, 'name')}?`,
        text: [
          `The id of the key is ${given(form, 'id')}.`,
          'This ends the sessions of the key, and requests with the key will be refused. It cannot be undone.',
        ],
        verb: 'Revoke it',
        type: given(form, 'name'),
      }),
      async does({ form, call }) {
        await call('DELETE', apiPath('keys', given(form, 'id')))
        return { say: `Key ${given(form, 'name')} revoked` }
      },
    },
  },
})
