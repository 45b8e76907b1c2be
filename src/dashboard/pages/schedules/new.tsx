import { SidejobError } from '../../../core/errors.ts'
import { nextTimes } from '../../../core/repeat.ts'
import type { WorkerView } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { Field, Select, TextArea } from '../../parts/field.tsx'
import { FormCard } from '../../parts/form-card.tsx'
import { cronOf, cronWords, ruleIn } from '../../words/cron.ts'
import { clock, cut, hourOf, longDay } from '../../words/text.ts'

const NEXT = 5
const MISSED = { '': 'run once (default)', run: 'run each', last: 'run once', skip: 'skip' }

type Preview = {
  cron: string
  tz: string
  words?: string
  next: number[]
  moved?: { at: number; wall: number }
  fault?: string
}

export function previewOf(cron: string, tz: string, now: number): Preview {
  try {
    const rule = ruleIn(cron, tz)
    const words = cronWords(cronOf(cron))
    return { cron, tz, words, next: nextTimes(rule, now, NEXT), moved: rule.moved?.(now) }
  } catch (error) {
    if (!(error instanceof SidejobError)) throw error
    return { cron, tz, next: [], fault: error.message }
  }
}

const slotText = (at: number, zone: string): string =>
  `${longDay(at, zone)}, ${at % 60_000 ? clock(at, zone) : hourOf(at, zone)} ${zone}`

function PreviewText({ preview: { tz, words, next, moved, fault } }: { preview: Preview }) {
  const { zone } = useLook()
  const own = tz || 'UTC'
  if (fault) return <p class="err">{fault}</p>
  return (
    <>
      {words && (
        <p>
          <b>{words}</b>, in {own}
        </p>
      )}
      <ol class="nexttimes">
        {next.map((at) => (
          <li>
            <time datetime={new Date(at).toISOString()}>{slotText(at, own)}</time>
            {own !== zone && <span class="dimmer"> {slotText(at, zone)}</span>}
          </li>
        ))}
      </ol>
      {moved && (
        <p class="sub">{`The clock skips ${slotText(moved.wall, 'UTC').slice(0, -4)}, so it runs at ${slotText(moved.at, own)}.`}</p>
      )}
    </>
  )
}

type NewScheduleProps = { preview?: Preview; was?: Record<string, string>; classes: readonly WorkerView[] }

export function NewSchedule({ preview, was = {}, classes }: NewScheduleProps) {
  return (
    <FormCard
      title={was.alias ? `Change ${cut(was.alias, 40)}` : 'New schedule'}
      act="set"
      scope="write"
      press={was.alias ? 'Save' : 'Create schedule'}
      at="/schedules"
      preview={['cron', 'tz']}
    >
      <div class="cronf">
        <Field name="alias" label="Name" path="key" value={was.alias} required />
        <Field name="queue" label="Queue" value={was.queue ?? 'default'} required mono />
        <Field name="class" label="Class" value={was.class} required mono list="classes" />
        <datalist id="classes">
          {classes.map((one) => (
            <option value={one.class}>{`${one.queue}/${one.class}`}</option>
          ))}
        </datalist>
        <Field
          name="cron"
          label="When"
          note="cron or words"
          placeholder="every day at 2:30"
          value={preview?.cron}
          autofocus={was.alias !== undefined}
          required
          mono
        />
        <Field name="tz" label="Time zone" placeholder="UTC" value={preview?.tz} />
        <Select name="missed" label="Missed slots" options={Object.keys(MISSED)} labels={MISSED} value={was.missed} />
      </div>
      <div id="preview" class="preview" data-island aria-live="polite">
        {preview && <PreviewText preview={preview} />}
      </div>
      <TextArea name="args" label="Args" note="JSON" rows={2} value={was.args} />
    </FormCard>
  )
}
