import { groupKey } from '../../../core/constraint.ts'
import type { GroupView } from '../../../engine/engine.ts'
import { LinkButton } from '../../parts/act.tsx'
import { Card, NameLink } from '../../parts/layout.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { colourOf, wayToChange, wayToLimit } from '../../words/limit.ts'
import { count } from '../../words/text.ts'
import { Slots } from './slots.tsx'

const SHOWN = 60

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
    label: 'running',
    cell: ({ concurrency, running }) =>
      concurrency === null ? count(running) : `${count(running)} of ${count(concurrency)}`,
  },
  { head: '#Waiting', label: 'waiting', kind: 'dim', cell: ({ waiting }) => count(waiting) },
  { head: '#Unfinished', label: 'unfinished', kind: 'dim', cell: ({ jobs }) => count(jobs) },
  {
    head: '-Acts',
    cell: ({ id }) => (
      <LinkButton to={wayToChange(groupKey(id))} scope="admin" small label={`Change group ${id}`}>
        Change
      </LinkButton>
    ),
  },
]

export function Groups({ groups }: { groups: GroupView[] }) {
  return (
    <Card title="Groups">
      <DataTable
        caption="Groups"
        empty="No group has unfinished jobs."
        rows={groups.slice(0, SHOWN)}
        columns={columns}
        kind="lined"
      />
    </Card>
  )
}
