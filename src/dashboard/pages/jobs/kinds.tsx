import type { ErrorKind } from '../../../engine/engine.ts'
import type { Engine } from '../../../engine/index.ts'
import { useLook } from '../../look.ts'
import type { Asked } from '../../page.ts'
import { Act as Button, LinkButton } from '../../parts/act.tsx'
import { Ago, Card, Empty, Icon, Link, Name, To } from '../../parts/layout.tsx'
import { Bars } from '../../parts/spark.tsx'
import { Table } from '../../parts/table.tsx'
import { retryAll } from '../../words/class-failures.ts'
import { sum } from '../../words/counts.ts'
import { type Deploy, deployName, deployPath, deploysOf } from '../../words/deploy.ts'
import { atLeast, count, cut, plain } from '../../words/text.ts'
import { varyingIn } from '../../words/varying.ts'
import { type Mute, MuteButtons, MutedTag } from './mutes.tsx'
import { kindsName } from './seen-kinds.ts'

/** Maximum kinds to show. Each kind adds one or two commands to a refresh. */
const SHOWN = 6
export const FRESH = 60_000

export type KindsData = {
  kinds: ErrorKind[]
  muted: ErrorKind[]
  quiet: Mute[]
  more: boolean
  deploy?: Deploy
}

type Deployments = Awaited<ReturnType<Engine['deployments']['list']>>['deployments']

export const lastDeploy = (deployments: Deployments): Deploy | undefined => deploysOf(deployments)[0]

export const deploymentsOf = ({ engine, cache }: Asked): Promise<Deployments> =>
  cache.get('deployments', FRESH, async () => (await engine.deployments.list()).deployments)

export const knownDeploy = async ({ cache }: Asked): Promise<Deploy | undefined> =>
  lastDeploy((await cache.last<Deployments>('deployments')) ?? [])

type Of = { queue?: string; class?: string }

export async function kindsOf(asked: Asked, of: Of = {}): Promise<KindsData> {
  const { engine, cache, look } = asked
  const name = kindsName(of)
  const ask = async () => ({ ...(await engine.errors.list({ ...of, details: true, muted: true })), at: look.now })
  const [{ errors, cursor, muted }, deployments] = await Promise.all([
    cache.get(name, FRESH, ask),
    deploymentsOf(asked),
  ])
  const [deploy, previous] = deploysOf(deployments)
  return {
    kinds: errors.filter((kind) => !kind.muted),
    muted: errors.filter((kind) => kind.muted),
    quiet: muted.filter(({ error }) => !errors.some((kind) => kind.error === error)),
    more: cursor !== null,
    // Without an earlier deploy, every kind of error would be marked as new.
    deploy: previous && deploy,
  }
}

const [BARS, QUARTER] = [24, 900_000]

function Times({ minutes = [] }: Pick<ErrorKind, 'minutes'>) {
  const { now } = useLook()
  const from = Math.floor(now / QUARTER + 1) * QUARTER - BARS * QUARTER
  const columns = Array.from({ length: BARS }, (_, i) =>
    sum(minutes, ({ at, count }) => (Math.floor((at - from) / QUARTER) === i ? count : 0)),
  )
  const text = `${count(sum(columns, (n) => n))} in the last 6 h`
  return (
    <td class="num wide" title={text}>
      <span class="vh">{text}</span>
      <Bars values={columns} tone="f-failed" />
    </td>
  )
}

type ShownKind = Omit<ErrorKind, 'frame' | 'queues' | 'jobs'>

/** No failed job of this kind was seen, so only the kind's name is known. */
const quietKind = ({ error, class: name, ...muted }: Mute): ShownKind => ({
  error,
  class: name ?? '',
  message: error,
  example: '',
  count: 0,
  firstAt: muted.at,
  lastAt: muted.at,
  muted,
})

type RowProps = { kind: ShownKind; deploy?: Deploy; isLeast: boolean }

function Row({ kind, deploy, isLeast }: RowProps) {
  const { error, class: name, count: n, firstAt, lastAt, example, message, muted } = kind
  const text = cut(message || example || 'no message', 140)
  const failed = `/jobs?status=failed&error=${error}`
  return (
    <tr>
      <td class="fill">
        <To to={failed}>
          {varyingIn(text, example || text).map((piece) =>
            piece.varies ? <mark>{plain(cut(piece.text, 60))}</mark> : plain(piece.text),
          )}
        </To>{' '}
        {muted && <MutedTag {...muted} />}
        {!muted && deploy && firstAt > deploy.at && (
          <To kind="tag new" to={deployPath(deploy)}>
            <Icon name="deploy" size={12} />
            new since the {deployName(deploy)}
          </To>
        )}
      </td>
      <td class="dim">
        <Name of={name} most={24} />
      </td>
      <td class="num" data-head="Jobs">
        <b title={isLeast ? 'some failed jobs are not counted yet' : undefined}>{atLeast(n, isLeast)}</b>
      </td>
      <Times minutes={kind.minutes} />
      <td class="num dim" data-head="First">
        <Ago at={firstAt} />
      </td>
      <td class="num dim" data-head="Last">
        <Ago at={lastAt} />
      </td>
      <td class="num">
        <span class="row end">
          <LinkButton to={failed} small label={`See jobs of this kind, ${name}: ${text}`}>
            See jobs
          </LinkButton>
          <MuteButtons kind={kind} name={`${name}: ${text}`} />
          <Button {...retryAll(name, error)} small label={`Retry all of this kind, ${name}: ${text}`}>
            Retry all
          </Button>
        </span>
      </td>
    </tr>
  )
}

const heads = [
  'Message, with its variable parts marked',
  'Class',
  '#Jobs',
  '##Last 6 h',
  '#First',
  '#Last',
  '-Mute and retry',
]

function Switch({ n, on }: { n: number; on: boolean }) {
  if (n === 0) return null
  return (
    <Link to={`/jobs?status=failed${on ? '' : '&muted=true'}`}>{on ? 'Hide muted kinds' : `${count(n)} muted`}</Link>
  )
}

type KindsProps = { data: KindsData; muted?: boolean; all?: boolean; title?: string }

export function Kinds({ data, muted: isWhole = false, all = false, title = 'Kinds of error' }: KindsProps) {
  const { kinds, muted, quiet, more, deploy } = data
  const n = muted.length + quiet.length
  if (kinds.length + muted.length === 0 && !(isWhole && n > 0)) return null
  const shown = all ? kinds : kinds.slice(0, SHOWN)
  return (
    <Card
      title={title}
      tag={atLeast(kinds.length, more)}
      kind="kinds"
      right={
        <>
          <Switch n={n} on={isWhole} />{' '}
          {shown.length < kinds.length && (
            <Link to="/jobs?status=failed&kinds=all">{`All ${count(kinds.length)} kinds`}</Link>
          )}
        </>
      }
    >
      {shown.length === 0 && !isWhole && <Empty>The errors of all failed jobs are muted.</Empty>}
      {(shown.length > 0 || isWhole) && (
        <Table caption="Failed jobs by kind of error" heads={heads} kind="lined">
          {[...shown, ...(isWhole ? muted : [])].map((kind) => (
            <Row kind={kind} deploy={deploy} isLeast={more} />
          ))}
          {isWhole && quiet.map((mute) => <Row kind={quietKind(mute)} isLeast={false} />)}
        </Table>
      )}
    </Card>
  )
}
