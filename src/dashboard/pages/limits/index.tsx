import { missing } from '../../../core/errors.ts'
import type { LimitRow } from '../../../engine/engine.ts'
import { asset as style } from '../../built/limits-css.generated.ts'
import { type Asked, page } from '../../page.ts'
import { LinkButton } from '../../parts/act.tsx'
import { Further } from '../../parts/further.tsx'
import { Card, Empty, Head, Icon, Name, To } from '../../parts/layout.tsx'
import { Search } from '../../parts/search.tsx'
import { First } from '../../parts/snippet.tsx'
import { sum } from '../../words/counts.ts'
import { isFull, kindOfLimit } from '../../words/limit.ts'
import { changeLimitPath, limitPath } from '../../words/paths.ts'
import { count, jobsWait, many } from '../../words/text.ts'
import { acts } from './acts.ts'
import { Breakers, reset } from './breakers.tsx'
import { ChangeForm, previewIn } from './change.tsx'
import { ConstraintForm, Constraints, acts as constraintActs, draftedIn } from './constraints.tsx'
import { Groups } from './group.tsx'
import { type Near, nearOf, Opened } from './opened.tsx'
import { Slots } from './slots.tsx'

type LimitsData = Awaited<ReturnType<typeof load>>

const SHOWN = 60

const byNeed = (a: LimitRow, b: LimitRow): number =>
  Number(isFull(b)) - Number(isFull(a)) || b.waiting - a.waiting || b.running - a.running || (a.key < b.key ? -1 : 1)

async function load(asked: Asked) {
  const { engine, query } = asked
  const open = query.get('open')
  const change = query.get('change') ?? query.get('key') ?? undefined
  const [{ limits, groups }, { constraints }, { breakers }, near, changed] = await Promise.all([
    engine.limits.withGroups(undefined, { details: true }),
    engine.constraints.list(),
    engine.breakers.list(),
    open ? nearOf(asked, open) : undefined,
    change ? engine.limits.get(change).catch(missing) : undefined,
  ])
  const drafted = await draftedIn(asked, constraints)
  const wanted = query.get('q')?.toLowerCase() ?? ''
  const preview = await previewIn(engine, query)
  return {
    limits: limits.filter(({ key }) => key.toLowerCase().includes(wanted)).sort(byNeed),
    from: Number(query.get('cursor')) || 0,
    groups,
    constraints,
    breakers,
    wanted,
    near,
    change,
    changed,
    drafted,
    preview,
  }
}

function Row({ limit, near }: { limit: LimitRow; near?: Near }) {
  const { key, waiting } = limit
  const isOpen = near !== undefined
  return (
    <div class={`limit${isFull(limit) ? ' full' : ''}`} id={`limit-${key}`}>
      <div class="line">
        <div class="grow">
          <To kind="name" to={isOpen ? '/limits' : limitPath(key)} label={`${isOpen ? 'Close' : 'Open'} ${key}`}>
            <Icon name={isOpen ? 'down' : 'right'} size={14} />
            <Name of={key} most={34} kind="clip" isMain />
          </To>
          <span class="sub">{kindOfLimit(limit)}</span>
        </div>
        <Slots limit={limit} holders={near?.holders} />
        <div class="q">
          {waiting > 0 ? (
            <b class={isFull(limit) && waiting > 99 ? 'up' : undefined}>{jobsWait(waiting)}</b>
          ) : (
            <span class="dim">no jobs wait</span>
          )}
        </div>
        <div class="acts">
          <LinkButton to={changeLimitPath(key)} scope="admin" small label={`Change ${key}`}>
            Change
          </LinkButton>
        </div>
      </div>
      {near && <Opened near={near} />}
    </div>
  )
}

function View({ data }: { data: LimitsData }) {
  const { limits, from, groups, constraints, breakers, near, change, changed, drafted, wanted, preview } = data
  const full = limits.filter(isFull).length
  const waiting = sum(limits, ({ waiting }) => waiting)
  const [opened, end] = [near?.limit.key, from + SHOWN]
  const shown = limits.filter(({ key }, i) => (i >= from && i < end) || key === opened)
  return (
    <>
      <Head title="Limits" note={`${many(limits.length, 'limit')}, ${count(full)} full; ${jobsWait(waiting)}`}>
        <Search label="Filter by key" value={wanted} />
        <LinkButton to="/limits?change=" scope="admin" icon="plus" kind="primary" hotkey="c">
          New limit
        </LinkButton>
      </Head>
      {change !== undefined && <ChangeForm of={change} limit={changed} preview={preview} />}
      <Card>
        {limits.length + breakers.length === 0 && (wanted ? <Empty>No limits match.</Empty> : <First of="limits" />)}
        {shown.map((limit) => (
          <Row limit={limit} near={limit.key === opened ? near : undefined} />
        ))}
        <Further cursor={limits.length > end ? String(end) : null} more="more limits" rows={SHOWN} limit={SHOWN} />
        <Breakers breakers={breakers.filter(({ host }) => host.toLowerCase().includes(wanted))} />
      </Card>
      {drafted && (
        <div class="below">
          <ConstraintForm drafted={drafted} />
        </div>
      )}
      <div class="cols c21 below">
        {groups.length > 0 && <Groups groups={groups} />}
        <Constraints constraints={constraints} limits={limits} />
      </div>
    </>
  )
}

export const limits = page({
  path: '/limits',
  nav: 'limits',
  every: 2_000,
  load,
  View,
  acts: { ...acts, ...constraintActs, reset },
  styles: [style.name],
})
