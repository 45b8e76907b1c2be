import type { QueueDetail } from '../../../engine/engine.ts'
import { Hidden } from '../../parts/act.tsx'
import { Field, Select } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Card } from '../../parts/layout.tsx'
import { settings } from './acts.ts'

export function Settings({ queue }: { queue: QueueDetail }) {
  const { maxLanes, batch, mode, ageing } = queue
  const is = {
    lanes: String(maxLanes),
    batch: String(batch),
    ageing: ageing === null ? '' : `${ageing / 1_000}s`,
    mode,
  }
  return (
    <Card title="Settings">
      <Form act="change" scope="admin" press="Save" button="">
        <Hidden of={settings.map((name) => [`was_${name}`, is[name]])} />
        <Select
          name="mode"
          label="Mode"
          note="push: lanes run functions, and pull workers claim jobs of pull classes; pull: pull workers claim all jobs"
          options={['push', 'pull']}
          value={mode}
        />
        <Field
          name="lanes"
          label="Max lanes"
          type="number"
          value={is.lanes}
          note="concurrent invocations; empty: default"
        />
        <Field name="batch" label="Batch" type="number" value={is.batch} note="jobs per batch; default 100" />
        <Field
          name="ageing"
          label="Ageing"
          value={is.ageing}
          note="waiting time that counts as one step of priority"
          placeholder="none, or 1m"
        />
      </Form>
    </Card>
  )
}
