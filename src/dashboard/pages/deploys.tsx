// Deploys: which version came when, and counts, errors and durations before and after one.

import type { ErrorKind } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import { missing } from '../missing.ts'
import { type Asked, page } from '../page.ts'
import { Card, Empty, Head, To } from '../parts/layout.tsx'
import { Ago } from '../parts/moment.tsx'
import { Name } from '../parts/name.tsx'
import { Table } from '../parts/table.tsx'
import { type DeployMark, deploysOf } from '../words/deploy.ts'
import { count, many, percent } from '../words/number.ts'
import { cut } from '../words/text.ts'
import { about, span } from '../words/time.ts'

type Comparison = Awaited<ReturnType<Engine['deployments']['compare']>>
type Period = Comparison['classes'][number]['before']
type Deploy = DeployMark & { id: string }
type DeploysData = { deploys: Deploy[]; severalIn: boolean; open?: Deploy; comparison?: Comparison }

async function load({ engine, query }: Asked): Promise<DeploysData> {
  const at = query.has('at') ? Number(query.get('at')) : undefined
  const [{ deployments }, comparison] = await Promise.all([
    engine.deployments.list(),
    engine.deployments.compare(query.get('of') ?? undefined, { at }).catch(missing),
  ])
  const deploys = deploysOf(deployments)
  const open = deploys.find((one) => one.id === comparison?.deployment && one.at === comparison.at)
  return { deploys, severalIn: deployments.length > 1, open, comparison }
}

const nameOf = ({ version }: { version: string | null }): string => version ?? 'unknown version'

const errorsIn = (of: Period): number => (of === null || of.counts.runs === 0 ? 0 : of.counts.errors / of.counts.runs)

/** One value before, and the same after; `isWorse` marks the second one. */
function Change({ head, before, after, isWorse }: { head: string; before: string; after: string; isWorse?: boolean }) {
  return (
    <td class="num" data-head={head}>
      <span class="dim">{before} →</span> <span class={isWorse ? 'up' : undefined}>{after}</span>
    </td>
  )
}

const errorsText = (of: Period): string => (of === null || of.counts.runs === 0 ? '–' : percent(errorsIn(of)))
const tookText = (of: Period): string => (of?.took ? `≤ ${about(of.took.p50)} / ${about(of.took.p95)}` : '–')

/** A share of failed runs that rose by more than one percentage point. */
const WORSE = 0.01

function Row({ row: { queue, class: name, before, after } }: { row: Comparison['classes'][number] }) {
  const [rose, slower] = [
    errorsIn(after) - errorsIn(before) > WORSE,
    (after?.took?.p95 ?? 0) > (before?.took?.p95 ?? 0),
  ]
  return (
    <tr>
      <td class="fill">
        {name === null ? (
          <span class="dim">all other classes</span>
        ) : (
          <To to={`/jobs?queue=${encodeURIComponent(queue)}&class=${encodeURIComponent(name)}`}>
            <b>
              <Name of={name} most={40} />
            </b>
          </To>
        )}
      </td>
      <td class="dim">
        <Name of={queue} most={24} />
      </td>
      <Change head="runs" before={count(before?.counts.runs ?? 0)} after={count(after?.counts.runs ?? 0)} />
      <Change head="failed runs" before={errorsText(before)} after={errorsText(after)} isWorse={rose} />
      <Change head="ran" before={tookText(before)} after={tookText(after)} isWorse={before !== null && slower} />
    </tr>
  )
}

const Missing = ({ isWhole }: { isWhole: boolean }) => (
  <Empty>{isWhole ? 'No run ended before or after it.' : 'The counts at this deploy are not kept.'}</Empty>
)

function Classes({ of: { before, after, isWhole, classes } }: { of: Comparison }) {
  return (
    <Card
      title="Before and after, by class"
      tag={count(classes.length)}
      kind="list"
      right={`${span(before.to - before.from)} of ${nameOf(before)}, ${span(after.to - after.from)} of ${nameOf(after)}`}
    >
      {classes.length === 0 ? (
        <Missing isWhole={isWhole} />
      ) : (
        <Table
          caption="Counts of each class before and after the deploy"
          heads={['Class', 'Queue', '#Runs', '#Failed runs', '#Run, p50 / p95']}
          kind="lined"
        >
          {classes.map((row) => (
            <Row row={row} />
          ))}
        </Table>
      )}
    </Card>
  )
}

function ErrorRow({ kind: { error, class: name, message, example, count: n, firstAt } }: { kind: ErrorKind }) {
  return (
    <tr>
      <td class="fill">
        <To to={`/jobs?status=failed&error=${error}`}>{cut(message || example || 'no message', 140)}</To>
      </td>
      <td class="dim">
        <Name of={name} most={24} />
      </td>
      <td class="num">{many(n, 'job')}</td>
      <td class="num dim">
        <Ago at={firstAt} />
      </td>
    </tr>
  )
}

function NewErrors({ of: { errors, more } }: { of: Comparison }) {
  return (
    <Card title="New kinds of errors" tag={count(errors.length)}>
      {errors.length === 0 && <Empty>No kind of error appeared first after it.</Empty>}
      {errors.length > 0 && (
        <Table
          caption="Kinds of errors whose first failed job came after the deploy"
          heads={['Message', 'Class', '#Jobs', '#First']}
        >
          {errors.map((kind) => (
            <ErrorRow kind={kind} />
          ))}
        </Table>
      )}
      {more && <p class="note foot">Only the newest 1,000 failed jobs were checked.</p>}
    </Card>
  )
}

function List({ data: { deploys, severalIn, open } }: { data: DeploysData }) {
  return (
    <Card title="Deploys" tag={count(deploys.length)}>
      {deploys.length === 0 && <Empty>No deployment has announced its classes yet.</Empty>}
      {deploys.length > 0 && (
        <Table caption="Deploys, newest first" heads={['Version', ...(severalIn ? ['Deployment'] : []), '#Deployed']}>
          {deploys.map((one) => (
            <tr>
              <td class="fill">
                <To kind="link mono" to={`/deploys?of=${one.id}&at=${one.at}`} current={one === open}>
                  {nameOf(one)}
                </To>
              </td>
              {severalIn && <td class="dim mono">{one.id}</td>}
              <td class="num">
                <Ago at={one.at} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  )
}

export const deploys = page<DeploysData>({
  path: '/deploys',
  nav: 'deploy',
  every: 60_000,
  title: () => 'Deploys',
  load,
  View: ({ data }) => (
    <>
      <Head title="Deploys" note={data.open && `${nameOf(data.open)} is shown`} />
      <div class="stack">
        {data.comparison && (
          <>
            <Classes of={data.comparison} />
            <NewErrors of={data.comparison} />
          </>
        )}
        <List data={data} />
      </div>
    </>
  ),
})
