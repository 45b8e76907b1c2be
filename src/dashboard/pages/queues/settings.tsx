import type { QueueDetail } from '../../../engine/engine.ts'
import { Hidden } from '../../parts/act.tsx'
import { Field, Select } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Card } from '../../parts/layout.tsx'
import { readyIn } from '../../words/queue.ts'
import { count, many } from '../../words/text.ts'
import { settings } from './acts.ts'

export function nowOf({ mode, paused, lanes, maxLanes, batch, counts }: QueueDetail): string {
  const ready = readyIn({ counts })
  const stand = `Open lanes: ${count(lanes)} of ${count(maxLanes)}, with up to ${many(batch, 'job')} each; ${many(ready, 'job')} ${ready === 1 ? 'is' : 'are'} ready.`
  if (paused) return `${stand} It is paused: nothing changes until it is resumed.`
  if (mode === 'pull') return `${stand} Pull workers claim its jobs, so lanes and batch have no effect.`
  const waits = (n: number, what: string) => n > 0 && `${many(n, 'job waits', 'jobs wait')} for ${what}`
  const more =
    ready <= counts.pull
      ? `${waits(counts.pull, 'pull workers') || waits(counts.limited, 'limits') || 'No jobs are waiting'}, so more lanes would be idle.`
      : lanes >= maxLanes
        ? 'One more lane would open immediately.'
        : 'More lanes can already open: the next bell opens one.'
  return `${stand} ${more}`
}

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
          note="push: lanes run the jobs; pull: your programs claim them"
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
          note="waiting time that counts as one step of priority; empty: none"
          placeholder="1m"
        />
        <p class="note">{nowOf(queue)}</p>
      </Form>
    </Card>
  )
}
