import { missing } from '../../core/errors.ts'
import type { Engine } from '../../engine/index.ts'
import { useLook } from '../look.ts'
import { type Asked, page } from '../page.ts'
import { LinkButton } from '../parts/act.tsx'
import { Ago, Card, Empty, Head, Name, To } from '../parts/layout.tsx'
import { Snippet } from '../parts/snippet.tsx'
import { type Column, DataTable } from '../parts/table.tsx'
import { type Deploy, deployPath, deploysFor, deploysOf } from '../words/deploy.ts'
import { about, count, dayAndHour, percent, span } from '../words/text.ts'
import { classColumns } from './jobs/by-class.tsx'
import { Kinds } from './jobs/kinds.tsx'

type Comparison = Awaited<ReturnType<Engine['deployments']['compare']>>
type Row = Comparison['classes'][number]
type Period = Row['before']
type DeploysData = Awaited<ReturnType<typeof load>>

async function load({ engine, query, look }: Asked) {
  const at = query.has('at') ? Number(query.get('at')) : undefined
  const [{ deployments }, comparison] = await Promise.all([
    engine.deployments.list(),
    engine.deployments.compare(query.get('of') ?? undefined, { at }).catch(missing),
  ])
  const deploys = deploysFor(look.tenant, deploysOf(deployments))
  const open = deploys.find((one) => one.id === comparison?.deployment && one.at === comparison.at)
  return { deploys, severalIn: deployments.length > 1, open, comparison: open && comparison }
}

const nameOf = ({ version }: { version: string | null }): string => version ?? 'a deploy without a version'

const titleOf = ({ version, at }: Deploy, zone: string): string => version ?? dayAndHour(at, zone)

const errorsIn = (of: Period): number => (of?.counts.runs ? of.counts.errors / of.counts.runs : 0)

const errorsText = (of: Period): string => (of?.counts.runs ? percent(errorsIn(of)) : '–')
const tookText = (of: Period): string => (of?.took ? `≤ ${about(of.took.p50)} / ${about(of.took.p95)}` : '–')

/** A deploy is worse if the share of failed runs rises by more than this. */
const WORSE = 0.01

const changed = (
  head: string,
  shown: (of: Period) => string,
  isWorse: (row: Row) => boolean = () => false,
): Column<Row> => ({
  head,
  cell: (row) => (
    <>
      <span class="dim">{shown(row.before)} →</span>{' '}
      <span class={isWorse(row) ? 'up' : undefined}>{shown(row.after)}</span>
    </>
  ),
})

const worse = ({ before, after }: Row): number => (before?.counts.runs ? errorsIn(after) - errorsIn(before) : 0)

const isSlower = ({ before, after }: Row): boolean => (after?.took?.p95 ?? 0) > (before?.took?.p95 ?? Infinity)

const comparisonColumns: readonly Column<Row>[] = [
  ...classColumns,
  changed('#Runs', (of) => count(of?.counts.runs ?? 0)),
  changed('#Failed runs', errorsText, (row) => worse(row) > WORSE),
  changed('#Run, p50 / p95', tookText, isSlower),
]

function Classes({ of: { before, after, isWhole, classes } }: { of: Comparison }) {
  const rows = classes.filter((row) => row.after?.counts.runs).sort((a, b) => worse(b) - worse(a))
  if (rows.length === 0)
    return (
      <p class="note">
        {isWhole
          ? 'No runs ended after this deploy.'
          : before.from === before.to
            ? 'This is the first deploy, so there are no earlier runs to compare.'
            : 'The counts around this deploy are no longer stored.'}
      </p>
    )
  return (
    <Card
      title="Before and after, by class"
      tag={count(rows.length)}
      kind="list"
      right={`${span(before.to - before.from)} of ${nameOf(before)}, ${span(after.to - after.from)} of ${nameOf(after)}`}
    >
      <DataTable
        caption="Counts of each class before and after the deploy"
        rows={rows}
        columns={comparisonColumns}
        kind="lined"
      />
    </Card>
  )
}

function NewErrors({ of: { errors, more } }: { of: Comparison }) {
  if (errors.length > 0)
    return <Kinds title="New kinds of error" data={{ kinds: errors, muted: [], quiet: [], more }} all />
  return (
    <Card title="New kinds of error" tag={count(0)}>
      <Empty>{`No new kinds of error since this deploy.${more ? ' Some failed jobs are not counted yet.' : ''}`}</Empty>
    </Card>
  )
}

function Back({ data: { deploys, open, comparison } }: { data: DeploysData }) {
  const { tenant } = useLook()
  const own = deploys.filter(({ id }) => id === open?.id)
  const [last, previous] = [own[0], own[own.indexOf(open!) + 1]]
  if (!open || !last || comparison?.errors.length === 0) return null
  if (open !== last)
    return (
      <Card title="Retry the failed jobs" id="back">
        <p class="body">
          {nameOf(last)} was deployed <Ago at={last.at} />. If it does not have this error, press “Retry all” above.
        </p>
      </Card>
    )
  if (!previous) return null
  if (tenant !== undefined)
    return (
      <Card title="Roll back" id="back">
        <p class="body">
          The operator of the deployment can restore {nameOf(previous)}. Then press “Retry all” above. Before the
          rollback, the jobs would fail again.
        </p>
      </Card>
    )
  return (
    <div id="back">
      <Snippet title="Roll back" note={`restores ${nameOf(previous)}`} text="npx wrangler rollback">
        <p class="body">
          <b>Then retry the failed jobs:</b> press “Retry all” above. Before the rollback, they would fail again.
        </p>
      </Snippet>
    </div>
  )
}

function List({ data: { deploys, severalIn, open } }: { data: DeploysData }) {
  const { zone, tenant } = useLook()
  const columns: Column<Deploy>[] = [
    {
      head: 'Version',
      kind: 'fill',
      cell: (one) => (
        <To kind={one.version ? 'link mono' : 'link'} to={deployPath(one)} current={one === open}>
          {titleOf(one, zone)}
        </To>
      ),
    },
    { head: 'Author', kind: 'dim', cell: ({ author }) => (author ? <Name of={author} most={40} /> : '–') },
    { head: 'Deployment', kind: 'dim mono', cell: ({ id }) => id },
    { head: '#Deployed', cell: ({ at }) => <Ago at={at} /> },
  ]
  return (
    <Card title="Deploys" tag={count(deploys.length)}>
      <DataTable
        caption="Deploys, newest first"
        empty={
          tenant === undefined
            ? 'No deployment has registered its classes yet.'
            : 'No deploy since the first use of this tenant.'
        }
        rows={deploys}
        columns={columns.filter(({ head }) => severalIn || head !== 'Deployment')}
      />
      {tenant !== undefined && <p class="note foot">A deploy has the time at which it first served this tenant.</p>}
      {tenant === undefined && deploys.some(({ version }) => version === null) && (
        <p class="note foot">
          To name a deploy, set <code>SIDEJOB_VERSION</code>, or deploy with <code>npx sidejob deploy</code>, which sets
          it to the commit.
        </p>
      )}
    </Card>
  )
}

export const deploys = page({
  path: '/deploys',
  nav: 'deploy',
  every: 60_000,
  load,
  View: ({ data, data: { open, comparison }, look: { zone } }) => (
    <>
      <Head
        title={open ? `Deploy of ${titleOf(open, zone)}` : 'Deploys'}
        note={
          open && (
            <>
              {open.author && `by ${open.author}, `}
              <Ago at={open.at} />
            </>
          )
        }
      >
        <LinkButton to="/jobs?status=failed">See all failed jobs</LinkButton>
      </Head>
      <div class="stack">
        {comparison && (
          <>
            <NewErrors of={comparison} />
            <Back data={data} />
            <Classes of={comparison} />
          </>
        )}
        <List data={data} />
      </div>
    </>
  ),
})
