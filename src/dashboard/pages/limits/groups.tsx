import { groupKey } from '../../../core/constraint.ts'
import type { LimitPreview } from '../../../core/schemas.ts'
import type { GroupView } from '../../../engine/engine.ts'
import type { Act } from '../../page.ts'
import { Act as Button, LinkButton } from '../../parts/act.tsx'
import { Field } from '../../parts/field.tsx'
import { Card, NameLink } from '../../parts/layout.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { given, maybe, numberIn } from '../../words/form.ts'
import { colourOf, wayToLimit } from '../../words/limit.ts'
import { count, cut, many } from '../../words/text.ts'
import { FormCard } from './form-card.tsx'
import { groupFields, Starts } from './preview.tsx'
import { Slots } from './slots.tsx'

const SHOWN = 60

const way = (id: string): string => `/v1/groups/${encodeURIComponent(id)}`

const pausing = (paused: boolean): Act => ({
  scope: 'admin',
  async does({ form, call }) {
    const group = given(form, 'group')
    await call('PATCH', way(group), { paused })
    return {
      say: paused ? `Group ${group} is paused: current runs continue` : `Group ${group} resumed`,
      undo: { act: paused ? 'resumeGroup' : 'pauseGroup', group },
    }
  },
})

export const groupActs: Record<string, Act> = {
  bound: {
    scope: 'admin',
    async does({ form, call }) {
      const group = given(form, 'group')
      const text = maybe(form, 'concurrency')
      const was = (await call('GET', way(group))) as GroupView
      await call('PATCH', way(group), { concurrency: text === undefined ? null : numberIn(text, 'concurrency') })
      const concurrency = was.concurrency === null ? '' : String(was.concurrency)
      return {
        say: `Group ${group}: ${text === undefined ? 'unlimited' : `at most ${text} at once`}`,
        to: '/limits',
        undo: { act: 'bound', group, concurrency },
      }
    },
  },
  pauseGroup: pausing(true),
  resumeGroup: pausing(false),
}

export function GroupForm({ id, group, preview }: { id: string; group?: GroupView; preview?: LimitPreview }) {
  const { concurrency = null, paused = false } = group ?? {}
  return (
    <FormCard
      title={`Group ${cut(id, 40)}`}
      act="bound"
      press="Save"
      preview={groupFields}
      foot={
        <Button act={paused ? 'resumeGroup' : 'pauseGroup'} at="/limits" scope="admin" fields={{ group: id }} small>
          {paused ? 'Allow new runs' : 'Block new runs'}
        </Button>
      }
    >
      <input type="hidden" name="group" value={id} />
      <Field
        name="concurrency"
        label="Max running"
        type="number"
        note="empty: unlimited"
        value={concurrency === null ? undefined : String(concurrency)}
      />
      <Starts preview={preview} />
    </FormCard>
  )
}

const columns: readonly Column<GroupView>[] = [
  {
    head: 'Group',
    cell: ({ id, paused }) => (
      <>
        <NameLink to={wayToLimit(groupKey(id))} of={id} most={28} isMain /> {paused && <span class="tag">paused</span>}
      </>
    ),
  },
  {
    head: 'Share',
    kind: 'fill',
    cell: ({ id, concurrency, running }) => (
      <div class={colourOf(id)}>
        <Slots limit={{ concurrency, running }} small />
      </div>
    ),
  },
  {
    head: '#Running',
    label: 'Running',
    cell: ({ concurrency, running }) =>
      concurrency === null ? count(running) : `${count(running)} of ${count(concurrency)}`,
  },
  { head: '#Waiting', kind: 'dim', cell: ({ waiting }) => many(waiting, 'waits', 'wait') },
  { head: '#Jobs', kind: 'dim', cell: ({ jobs }) => many(jobs, 'job') },
  {
    head: '#Acts',
    cell: ({ id }) => (
      <LinkButton to={`/limits?group=${encodeURIComponent(id)}`} scope="admin" small label={`Change group ${id}`}>
        Change
      </LinkButton>
    ),
  },
]

export function Groups({ groups }: { groups: GroupView[] }) {
  return (
    <Card title="Groups" right="unfinished jobs">
      <DataTable
        caption="Groups"
        empty="No group has unfinished jobs."
        rows={groups.slice(0, SHOWN)}
        columns={columns}
        isPlain
        kind="lined"
      />
    </Card>
  )
}
