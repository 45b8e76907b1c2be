import type { Child } from 'hono/jsx'
import { encodedToJson } from '../../../../core/codec/value.ts'
import type { WireView } from '../../../../engine/engine.ts'
import { Act, useRefusal } from '../../../parts/act.tsx'
import { Form } from '../../../parts/form.tsx'
import { Icon } from '../../../parts/layout.tsx'
import { ValueFields } from '../../../parts/value-fields.tsx'
import type { FlowData } from '../load.ts'

const TARGETS = 500

function Opens(props: {
  act: string
  flow: number
  wire: string
  verb: string
  icon: string
  hotkey?: string
  children: Child
}) {
  const { act, flow, wire, verb, icon, hotkey, children } = props
  const off = useRefusal('write')
  const inside = (
    <>
      <Icon name={icon} size={12} />
      {verb}
    </>
  )
  if (off)
    return (
      <button class="btn small" type="button" disabled title={off}>
        {inside}
      </button>
    )
  return (
    <details class="more opens">
      <summary class="btn small" data-hotkey={hotkey}>
        {inside}
        {hotkey && <kbd>{hotkey}</kbd>}
      </summary>
      <Form
        act={act}
        scope="write"
        press={verb.replace(/ to…$/, '')}
        at={`/flows/${flow}`}
        kind="menu ask"
        fields={{ wire }}
      >
        {children}
      </Form>
    </details>
  )
}

export function WireActs({ data, wire }: { data: FlowData; wire: WireView }) {
  const { flow, wires } = data.view
  const waits = wire.size + wire.behind
  const schema = data.near.job?.in[wire.to.port]?.schema
  return (
    <section>
      <div class="acts4">
        <Opens act="inject" flow={flow.id} wire={wire.id} verb="Inject" icon="plus" hotkey="i">
          <ValueFields name="value" label="Value" schema={schema && encodedToJson(schema)} isNeeded path="values" />
        </Opens>
        <Opens act="move" flow={flow.id} wire={wire.id} verb="Move to…" icon="move">
          <label>
            <span class="fieldname">To the end of</span>
            <select class="field mono" name="to">
              {wires
                .filter(({ id }) => id !== wire.id)
                .slice(0, TARGETS)
                .map(({ id }) => (
                  <option value={id}>{id}</option>
                ))}
            </select>
          </label>
        </Opens>
        <Act
          act="drain"
          at={`/flows/${flow.id}`}
          scope="write"
          fields={{ wire: wire.id }}
          icon="drain"
          kind="danger"
          small
          off={waits === 0 ? 'no values are waiting' : undefined}
        >
          Drain…
        </Act>
      </div>
    </section>
  )
}
