import { groupKey } from '../../../core/constraint.ts'
import type { GroupView } from '../../../engine/engine.ts'
import { LinkButton } from '../../parts/act.tsx'
import { Card, NameLink } from '../../parts/layout.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { colourOf, elsewhereIn, slotsText } from '../../words/limit.ts'
import { changeLimitPath, limitPath } from '../../words/paths.ts'
import { count } from '../../words/text.ts'
import { Slots } from './slots.tsx'

const SHOWN = 60

const columns: readonly Column<GroupView>[] = [
  {
    head: 'Group',
    cell: ({ id, paused }) => (
      <>
        <NameLink to={limitPath(groupKey(id))} of={id} most={28} isMain /> {paused && <span class="tag">paused</span>}
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
  { head: '#Running', cell: slotsText },
  { head: '#Wait for limit', kind: 'dim', cell: ({ waiting }) => count(waiting) },
  { head: '#Wait elsewhere', kind: 'dim', cell: (group) => count(elsewhereIn(group)) },
  {
    head: '-Acts',
    cell: ({ id }) => (
      <LinkButton to={changeLimitPath(groupKey(id))} scope="admin" small label={`Change group ${id}`}>
        Change
      </LinkButton>
    ),
  },
]

const byUse = (a: GroupView, b: GroupView): number => b.jobs - a.jobs || b.running - a.running || (a.id < b.id ? -1 : 1)

export function Groups({ groups }: { groups: GroupView[] }) {
  return (
    <Card title="Groups">
      <DataTable
        caption="Groups"
        empty="No group has queued or running jobs."
        rows={groups.toSorted(byUse).slice(0, SHOWN)}
        columns={columns}
        kind="lined"
      />
    </Card>
  )
}
