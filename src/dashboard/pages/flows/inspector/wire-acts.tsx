// What can be done on a wire: put values into it, move or take those that wait.

import type { Child } from 'hono/jsx'
import type { WireView } from '../../../../engine/engine.ts'
import { useLook } from '../../../look.ts'
import { Act, refusal, Sent } from '../../../parts/act.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { choicesOf, kindOf, wordsOf } from '../../../words/schema.ts'
import type { FlowData, Near } from '../load.ts'

/** So many wires are offered to move values to. */
const TARGETS = 500

/** A field for one value, by what the far port expects. */
function ValueField({ schema }: { schema: string | undefined }) {
  const kind = kindOf(schema)
  const choices = kind === 'boolean' ? ['true', 'false'] : choicesOf(schema)
  return (
    <label>
      <span class="fieldname">
        Value <span class="note">{kind === 'json' ? `JSON; ${wordsOf(schema)}` : wordsOf(schema)}</span>
      </span>
      <input type="hidden" name="kind" value={kind} />
      {kind === 'choice' || kind === 'boolean' ? (
        <select class="field" name="value">
          {choices.map((one) => (
            <option value={one}>{one}</option>
          ))}
        </select>
      ) : kind === 'json' ? (
        <textarea class="field mono" name="value" rows={3} spellcheck={false} required />
      ) : (
        <input
          class="field"
          name="value"
          type={kind === 'number' ? 'number' : 'text'}
          step={kind === 'number' ? 'any' : undefined}
          autocomplete="off"
          required={kind === 'number'}
        />
      )}
    </label>
  )
}

/** A button that opens a form; without a script it opens as well. */
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
  const { base, who } = useLook()
  const off = refusal(who.scopes, 'write')
  if (off)
    return (
      <button class="btn small" type="button" disabled title={off}>
        <Icon name={icon} size={12} />
        {verb}
      </button>
    )
  return (
    <details class="more opens">
      <summary class="btn small" data-hotkey={hotkey}>
        <Icon name={icon} size={12} />
        {verb}
        {hotkey && <kbd>{hotkey}</kbd>}
      </summary>
      <form class="menu ask" method="post" action={`${base}/flows/${flow}`} data-act={act}>
        <Sent act={act} />
        <input type="hidden" name="wire" value={wire} />
        {children}
        <button class="btn primary" type="submit">
          {verb.replace(/ to…$/, '')}
        </button>
      </form>
    </details>
  )
}

export function WireActs({ data, wire, near }: { data: FlowData; wire: WireView; near: Near }) {
  const { flow, wires } = data.view
  const waits = wire.size + wire.behind
  const schema = near.job?.in[wire.to.port]?.schema
  return (
    <section>
      <div class="acts4">
        <Opens act="inject" flow={flow.id} wire={wire.id} verb="Inject" icon="plus" hotkey="i">
          <ValueField schema={schema} />
        </Opens>
        <Opens act="move" flow={flow.id} wire={wire.id} verb="Move to…" icon="move">
          <label>
            <span class="fieldname">To the far end of</span>
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
          off={waits === 0 ? 'nothing waits there' : undefined}
        >
          Drain…
        </Act>
      </div>
    </section>
  )
}
