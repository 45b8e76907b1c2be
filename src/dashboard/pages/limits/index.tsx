// Limits, groups and constraints: who holds the slots, whose turn it is.

import { SidejobError } from '../../../core/errors.ts'
import type { ConstraintView, GroupView, LimitRow, OpenBreaker } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { type Asked, page } from '../../page.ts'
import { LinkButton } from '../../parts/act.tsx'
import { Card, Empty, Head, To } from '../../parts/layout.tsx'
import { colours, isFull, kindOfLimit } from '../../words/limit.ts'
import { count, many } from '../../words/number.ts'
import { cut } from '../../words/text.ts'
import { acts } from './acts.ts'
import { Breakers, reset } from './breakers.tsx'
import { ChangeForm } from './change.tsx'
import { type Near, Opened } from './opened.tsx'
import { Slots } from './slots.tsx'

type LimitsData = {
  limits: LimitRow[]
  groups: GroupView[]
  constraints: ConstraintView[]
  breakers: OpenBreaker[]
  /** What is looked for in keys. */
  wanted: string
  /** The one that is open. */
  near?: Near
  /** The one that is changed; an empty text for a new one. */
  change?: string
}

/** So many are drawn; more are found by their key. */
const SHOWN = 60
const HOLDERS = 60
const WAITING = 18

/** Full ones first, then those that are used, then by name. */
const byNeed = (a: LimitRow, b: LimitRow): number =>
  Number(isFull(b)) - Number(isFull(a)) || b.waiting - a.waiting || b.running - a.running || (a.key < b.key ? -1 : 1)

/** A limit that is gone meanwhile is closed. */
const missing = (error: unknown): undefined => {
  if (error instanceof SidejobError && error.code === 'NOT_FOUND') return undefined
  throw error
}

async function load({ engine, query }: Asked): Promise<LimitsData> {
  const open = query.get('open')
  const [{ limits, groups }, { constraints }, { breakers }, near] = await Promise.all([
    engine.bounds(undefined, { details: true }),
    engine.constraints(),
    engine.breakers(),
    open ? engine.room(open, { holders: HOLDERS, waiting: WAITING }).catch(missing) : undefined,
  ])
  const wanted = query.get('q')?.toLowerCase() ?? ''
  const change = query.get('change')
  return {
    limits: limits.filter(({ key }) => key.toLowerCase().includes(wanted)).sort(byNeed),
    groups,
    constraints,
    breakers,
    wanted,
    ...(near ? { near } : {}),
    ...(change === null ? {} : { change }),
  }
}

function Row({ limit, near }: { limit: LimitRow; near?: Near }) {
  const { key, waiting } = limit
  const isOpen = near !== undefined
  const at = encodeURIComponent(key)
  return (
    <div class={`limit${isFull(limit) ? ' full' : ''}`} id={`limit-${key}`}>
      <div class="line">
        <div class="grow">
          <To kind="name" to={isOpen ? '/limits' : `/limits?open=${at}`} label={`${isOpen ? 'Close' : 'Open'} ${key}`}>
            <svg class="i i14" aria-hidden="true">
              <use href={isOpen ? '#down' : '#right'} />
            </svg>
            <b class="clip">{cut(key, 34)}</b>
          </To>
          <span class="sub">{kindOfLimit(limit)}</span>
        </div>
        <Slots limit={limit} holders={near?.holders} />
        <div class="q">
          {waiting > 0 ? (
            <b class={isFull(limit) && waiting > 99 ? 'up' : undefined}>{many(waiting, 'waits', 'wait')}</b>
          ) : (
            <span class="dim">nobody waits</span>
          )}
        </div>
        <div class="acts">
          <LinkButton to={`/limits?change=${at}`} scope="admin" small label={`Change ${key}`}>
            Change
          </LinkButton>
        </div>
      </div>
      {near && <Opened near={near} />}
    </div>
  )
}

function Groups({ groups }: { groups: GroupView[] }) {
  return (
    <Card title="Groups" right="with jobs that are not at rest">
      {groups.length === 0 && <Empty>No group has jobs that are not at rest.</Empty>}
      <table class="tbl">
        <caption class="vh">Groups</caption>
        <tbody>
          {groups.slice(0, SHOWN).map(({ id, concurrency, running, waiting, jobs, paused }, i) => (
            <tr>
              <td>
                <To to={`/jobs?group=${encodeURIComponent(id)}`}>
                  <b>{cut(id, 28)}</b>
                </To>{' '}
                {paused && <span class="tag">paused</span>}
              </td>
              <td class={`fill ${colours[i % colours.length]}`}>
                <Slots limit={{ concurrency, running }} small />
              </td>
              <td class="num">
                {concurrency === null ? count(running) : `${count(running)} of ${count(concurrency)}`}
              </td>
              <td class="num dim">{many(waiting, 'waits', 'wait')}</td>
              <td class="num dim">{many(jobs, 'job')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}

const matches = ({ match: { queue, class: name, args } }: ConstraintView): string =>
  [queue && `queue ${queue}`, name && `class ${name}`, args && `args.${Object.keys(args).join(', args.')}`]
    .filter(Boolean)
    .join(', ') || 'all jobs'

function Constraints({ constraints }: { constraints: ConstraintView[] }) {
  return (
    <Card title="Constraints">
      {constraints.length === 0 && <Empty>No constraint: limits come from workers and groups.</Empty>}
      <table class="tbl">
        <caption class="vh">Constraints</caption>
        <tbody>
          {constraints.map((one) => (
            <tr>
              <td>
                <b class="mono">{cut(one.name, 28)}</b>
              </td>
              <td class="fill dim">
                {matches(one)}
                {one.groupBy && `, by args.${one.groupBy}`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}

function View({ data: { limits, groups, constraints, breakers, near, change, wanted } }: { data: LimitsData }) {
  const { base } = useLook()
  const full = limits.filter(isFull).length
  const waiting = limits.reduce((sum, limit) => sum + limit.waiting, 0)
  return (
    <>
      <Head
        title="Limits"
        note={`${many(limits.length, 'limit')}, ${count(full)} full; ${many(waiting, 'job waits', 'jobs wait')}`}
      >
        <form class="filter small" action={`${base}/limits`}>
          <input name="q" type="search" aria-label="Key" placeholder="Key" value={wanted} />
        </form>
        <LinkButton to="/limits?change=" scope="admin" icon="plus" kind="primary">
          New limit
        </LinkButton>
      </Head>
      {change !== undefined && <ChangeForm limit={limits.find(({ key }) => key === change)} />}
      <Card>
        {limits.length + breakers.length === 0 && (
          <Empty>There is no limit: every job starts as soon as a lane is free.</Empty>
        )}
        {limits.slice(0, SHOWN).map((limit) => (
          <Row limit={limit} near={near?.limit.key === limit.key ? near : undefined} />
        ))}
        <Breakers breakers={breakers.filter(({ host }) => host.toLowerCase().includes(wanted))} />
      </Card>
      <div class="cols c21 limcols">
        <Groups groups={groups} />
        <Constraints constraints={constraints} />
      </div>
    </>
  )
}

export const limits = page<LimitsData>({
  path: '/limits',
  nav: 'limits',
  every: 2_000,
  load,
  title: () => 'Limits',
  View,
  acts: { ...acts, reset },
})
