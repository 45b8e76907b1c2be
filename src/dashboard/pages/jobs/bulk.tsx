import type { JobView } from '../../../engine/engine.ts'
import { may, useLook } from '../../look.ts'
import { Act, Sent, useRefusal } from '../../parts/act.tsx'
import { Icon, Link, StatusMark } from '../../parts/layout.tsx'
import { count } from '../../words/text.ts'

type Doing = { name: string; verb: string; icon?: string; kind?: string; hotkey?: string; title?: string }

const doings: Doing[] = [
  { name: 'retry', verb: 'Retry', icon: 'retry', hotkey: 'r' },
  { name: 'run', verb: 'Run', title: 'Runs jobs even if they have not failed' },
  { name: 'terminate', verb: 'Terminate', kind: 'danger', hotkey: 'x' },
  { name: 'delete', verb: 'Delete', kind: 'danger' },
]

export function Bulk({ query }: { query: URLSearchParams }) {
  const look = useLook()
  const off = useRefusal('write')
  const search = query.toString()
  return (
    <form
      class="bulk"
      id="bulk"
      method="post"
      action={`${look.base}/jobs${search && `?${search}`}`}
      data-act="selected"
    >
      <Sent act="selected" />
      <span class="n">
        <b class="selected">Selected</b>
      </span>
      {may(look, 'admin') && (
        <>
          <span class="sep" />
          <label>
            <input type="checkbox" class="check" name="fit" value="all" /> all matching jobs
          </label>
        </>
      )}
      <span class="sep" />
      {doings.map(({ name, verb, icon, kind, hotkey, title }) => (
        <button
          class={`btn small ${kind ?? ''}`.trim()}
          type="submit"
          name="do"
          value={name}
          disabled={off !== undefined}
          title={off ?? title}
          data-hotkey={hotkey}
        >
          {icon && <Icon name={icon} size={12} />}
          {verb}
          {hotkey && <kbd>{hotkey}</kbd>}
        </button>
      ))}
      <span class="sep" />
      <button class="btn small icon quiet" type="reset" aria-label="Clear the selection" data-do="clear">
        <Icon name="x" size={14} />
      </button>
    </form>
  )
}

export function BulkProgress({ job }: { job: JobView }) {
  const { done = 0, passed = 0 } = JSON.parse(job.progress ?? '{}') as Record<string, number>
  const isOpen = ['queued', 'running', 'suspended'].includes(job.status)
  return (
    <div class="card row progress" role="status">
      <StatusMark status={job.status} />
      <span>
        <b>Bulk job</b> <Link to={`/jobs/${job.id}`}>#{job.id}</Link>{' '}
        <span class="dim">
          {count(done)} done{passed > 0 && `, ${count(passed)} skipped`}
        </span>
      </span>
      <span class="grow" />
      {isOpen && (
        <Act act="terminate" at={`/jobs/${job.id}`} scope="write" small>
          Stop
        </Act>
      )}
    </div>
  )
}
