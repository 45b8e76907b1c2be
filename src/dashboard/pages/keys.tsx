// API keys: who may come in, and for what. A key that is made is shown once.

import { SidejobError } from '../../core/errors.ts'
import type { ApiKey, Scope } from '../../engine/engine.ts'
import { page } from '../page.ts'
import { Act as Button } from '../parts/act.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Card, Empty, Head } from '../parts/layout.tsx'
import { Ago } from '../parts/moment.tsx'
import { Name } from '../parts/name.tsx'
import { Table } from '../parts/table.tsx'
import { given } from '../words/form.ts'
import { many } from '../words/number.ts'

const scopes: readonly [Scope, string][] = [
  ['read', 'sees everything, changes nothing'],
  ['write', 'creates, changes and ends jobs'],
  ['work', 'claims and commits runs'],
  ['admin', 'everything, also queues, limits and keys'],
]

function Row({ apiKey: { id, name, scopes, createdAt, lastUsedAt, expiresAt } }: { apiKey: ApiKey }) {
  return (
    <tr>
      <td>
        <b>
          <Name of={name} most={40} />
        </b>
      </td>
      <td>
        {scopes.map((scope) => (
          <>
            <span class="tag">{scope}</span>{' '}
          </>
        ))}
      </td>
      <td class="fill dim mono keyid">{id}</td>
      <td class="num">
        made <Ago at={createdAt} />
      </td>
      <td class="num">
        {lastUsedAt === undefined ? (
          <span class="dimmer">never used</span>
        ) : (
          <>
            used <Ago at={lastUsedAt} />
          </>
        )}
      </td>
      <td class="num">
        {expiresAt !== undefined && (
          <>
            ends <Ago at={expiresAt} />
          </>
        )}
      </td>
      <td class="num">
        <Button act="remove" scope="admin" fields={{ id, name }} kind="danger" small label={`Remove ${name}`}>
          Remove
        </Button>
      </td>
    </tr>
  )
}

function MakeForm() {
  return (
    <Card title="New key">
      <Form act="make" scope="admin" press="Create key">
        <Field name="name" label="Name" note="its holder or its purpose" required />
        <fieldset>
          <legend>It may</legend>
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

export const keys = page<{ keys: ApiKey[] }>({
  path: '/settings/keys',
  nav: 'keys',
  every: 0,
  load: ({ engine }) => engine.keys.list(),
  title: () => 'Keys',
  View: ({ data: { keys } }) => (
    <>
      <Head title="Keys" note={many(keys.length, 'API key')} />
      <div class="cols c21">
        <Card>
          {keys.length === 0 && <Empty>There is only the key of the deployment.</Empty>}
          <Table
            caption="API keys"
            heads={['Name', 'Scopes', 'Id', 'Made', 'Last used', 'Ends', 'Acts']}
            isPlain
            kind="lined"
          >
            {keys.map((key) => (
              <Row apiKey={key} />
            ))}
          </Table>
        </Card>
        <MakeForm />
      </div>
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
        return { say: `Key ${name} is made. It is shown only once: copy it now.`, secret: key }
      },
    },
    remove: {
      scope: 'admin',
      confirm: ({ form }) => ({
        title: `Remove key ${given(form, 'name')}?`,
        text: ['Requests with this key will be refused, and its sessions end. This cannot be undone.'],
        verb: 'Remove it',
        type: given(form, 'name'),
      }),
      async does({ form, call }) {
        await call('DELETE', `/v1/keys/${encodeURIComponent(given(form, 'id'))}`)
        return { say: `Key ${given(form, 'name')} is removed` }
      },
    },
  },
})
