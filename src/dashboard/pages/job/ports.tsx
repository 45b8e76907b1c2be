import type { Child } from 'hono/jsx'
import { encodedToJson } from '../../../core/codec/value.ts'
import { REDACTED } from '../../../core/redact.ts'
import type { Item, JobView, PortView } from '../../../engine/engine.ts'
import { useLook, useWay } from '../../look.ts'
import { Act, LinkButton, More } from '../../parts/act.tsx'
import { Field, Select } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Card, To, Zero } from '../../parts/layout.tsx'
import { Table } from '../../parts/table.tsx'
import { ValueFields } from '../../parts/value-fields.tsx'
import { Value } from '../../parts/value-view.tsx'
import { sum } from '../../words/counts.ts'
import { apiPath } from '../../words/paths.ts'
import { readSchema } from '../../words/schema.ts'
import { count, cut, many } from '../../words/text.ts'
import { typedAs } from '../../words/value-form.ts'

export type PortRow = { dir: 'in' | 'out'; name: string; view: PortView; values?: Item[]; isOpen?: boolean }

const isAwaited = (job: JobView, { dir, name }: PortRow): boolean =>
  dir === 'in' && Array.isArray(job.waitingFor) && job.waitingFor.includes(name)

const wholeAt = (base: string, job: JobView, { dir, name }: PortRow): string =>
  `${base}${apiPath('jobs', String(job.id), dir, name)}`

function Values({ job, row }: { job: JobView; row: PortRow }) {
  const { base } = useLook()
  const { view, values = [] } = row
  const href = wholeAt(base, job, row)
  return (
    <span class="vals">
      {values.map(({ data }) => (
        <Value value={data} href={href} />
      ))}
      {view.size > values.length && <span class="dimmer">{count(view.size - values.length)} more</span>}
      {view.size === 0 && <span class="dimmer">{view.default === undefined ? 'none' : 'default'}</span>}
      {view.size === 0 && view.default !== undefined && <Value value={view.default} href={href} />}
    </span>
  )
}

/** Contains the direction, because an input and an output may have the same name. */
const labelOf = (verb: string, { dir, name }: PortRow): string => `${verb}: ${name}, ${dir}`

const FIELD = 4_000

/** Undefined if the default is too long for a field, or a part of it is hidden. */
function presentDefault({ view }: PortRow, schema: string | undefined): ((field: string) => string) | undefined {
  const json = view.default === undefined ? undefined : encodedToJson(view.default)
  if (json === undefined || json.length > FIELD || json.includes(REDACTED)) return undefined
  const text = typedAs(readSchema(schema), json)
  return (field) => (field === 'value' ? text : '')
}

type PortFormProps = { row: PortRow; act: string; verb: string; children: Child }

const PortForm = ({ row, act, verb, children }: PortFormProps) => (
  <Form
    act={act}
    scope="write"
    press={verb}
    kind=""
    button="small"
    label={labelOf(verb, row)}
    fields={{ dir: row.dir, port: row.name }}
  >
    {children}
  </Form>
)

function ValueForm({ row, act, verb, isDefault }: { row: PortRow; act: string; verb: string; isDefault?: true }) {
  const schema = row.view.schema && encodedToJson(row.view.schema)
  return (
    <PortForm row={row} act={act} verb={verb}>
      <ValueFields
        name="value"
        label={`${verb} to ${row.name}`}
        schema={schema}
        isNeeded
        was={isDefault && presentDefault(row, schema)}
        path="values"
      />
    </PortForm>
  )
}

const ChannelsForm = ({ row }: { row: PortRow }) => (
  <PortForm row={row} act="channels" verb="Set channels">
    <label>
      {row.dir === 'in' ? 'Channels to listen to' : 'Channels to publish on'}, one per line
      <textarea class="field mono" name="channels" rows={2} spellcheck={false} data-path="channels">
        {row.view.channels.join('\n')}
      </textarea>
    </label>
  </PortForm>
)

const ConnectForm = ({ row }: { row: PortRow }) => (
  <PortForm row={row} act="connect" verb="Connect">
    <Field name="to" label="Move waiting values to job" required mono />
    <Select name="side" label="Side" options={['in', 'out']} />
    <Field name="toPort" label="Port" required mono />
  </PortForm>
)

function Acts({ row }: { row: PortRow }) {
  const { dir, name, view } = row
  const fields = { dir, port: name }
  return (
    <span class="row">
      {dir === 'out' && view.size > 0 ? (
        <Act act="take" scope="write" fields={fields} small label={`Take a value from ${name}`}>
          Take
        </Act>
      ) : row.isOpen ? (
        <Close />
      ) : (
        <details class="more">
          <summary class="btn small" aria-label={`Write to ${name}`}>
            Write
          </summary>
          <div class="menu wide2">
            <ValueForm row={row} act="write" verb="Write" />
          </div>
        </details>
      )}
      <More label={`More for ${name}`} small>
        {dir === 'out' || view.size === 0 ? null : (
          <Act act="take" scope="write" fields={fields} kind="danger" label={labelOf('Take a value', row)}>
            Take a value
          </Act>
        )}
        {dir === 'out' && view.size > 0 && !row.isOpen && <ValueForm row={row} act="write" verb="Write" />}
        <ValueForm row={row} act="default" verb="Set the default" isDefault />
        {view.default !== undefined && (
          <Act act="undefault" scope="write" fields={fields} label={labelOf('Clear the default', row)}>
            Clear the default
          </Act>
        )}
        <details>
          <summary class="link">Channels</summary>
          <ChannelsForm row={row} />
        </details>
        <details>
          <summary class="link">Connect</summary>
          <ConnectForm row={row} />
        </details>
      </More>
    </span>
  )
}

const Close = () => (
  <LinkButton to={`${useWay()({ port: undefined })}#ports`} small>
    Close
  </LinkButton>
)

function Opened({ job, row }: { job: JobView; row: PortRow }) {
  const { base } = useLook()
  const { dir, name, view, values = [] } = row
  return (
    <tr class="opened">
      <td class="fill" colspan={7}>
        {values.length > 0 && (
          <ol aria-label={`Values of ${name}, ${dir}, oldest first`}>
            {values.map(({ data }) => (
              <li>
                <Value value={data} href={wholeAt(base, job, row)} />
              </li>
            ))}
          </ol>
        )}
        {view.size > values.length && <p class="note">{count(view.size - values.length)} more</p>}
        <ValueForm row={row} act="write" verb="Write" />
      </td>
    </tr>
  )
}

function Name({ row: { dir, name, isOpen } }: { row: PortRow }) {
  const way = useWay()
  const port = isOpen ? undefined : `${dir}:${name}`
  return (
    <To kind="mono" to={`${way({ port })}#ports`} label={`${isOpen ? 'Close' : 'Open'} ${name}, ${dir}`}>
      <b>{cut(name, 30)}</b>
    </To>
  )
}

function Port({ job, row }: { job: JobView; row: PortRow }) {
  const { dir, name, view } = row
  return (
    <tr id={`port-${dir}-${name}`}>
      <td>
        <span class="tag dirr">{dir}</span>
      </td>
      <td>
        <Name row={row} /> {isAwaited(job, row) && <span class="tag awaited">job waits here</span>}
      </td>
      <td class="num" data-head="waiting">
        <Zero n={view.size} />
      </td>
      <td class={view.taken > 0 ? 'num dim' : 'num dimmer'} data-head="taken">
        {count(view.taken)}
      </td>
      <td class="fill">
        {row.isOpen && view.size > 0 ? <span class="dimmer">shown below</span> : <Values job={job} row={row} />}
      </td>
      <td class={view.channels.length > 0 ? 'dim mono' : 'dimmer'}>
        {view.channels
          .slice(0, 2)
          .map((name) => cut(name, 24))
          .join(' ') || '–'}
      </td>
      <td class="num">
        <Acts row={row} />
      </td>
    </tr>
  )
}

export function Ports({ job, rows, more }: { job: JobView; rows: PortRow[]; more: number }) {
  const waiting = sum(rows, ({ view }) => view.size)
  return (
    <Card title="Ports" right={waiting > 0 && `${many(waiting, 'value')} waiting`} kind="ports" id="ports">
      <Table
        caption="Ports"
        heads={['-Direction', 'Port', '#Waiting', '#Taken', 'Values, oldest first', 'Channels', '-Actions']}
        kind="lined"
      >
        {rows.map((row) => (
          <>
            <Port job={job} row={row} />
            {row.isOpen && <Opened job={job} row={row} />}
          </>
        ))}
      </Table>
      {more > 0 && <p class="note foot">{many(more, 'more port')}. The API lists all ports.</p>}
    </Card>
  )
}
