import type { ErrorKind } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import type { Asked } from '../../page.ts'
import { Act as Button, LinkButton } from '../../parts/act.tsx'
import { Ago, Card, Empty, Icon, Link, Name, To } from '../../parts/layout.tsx'
import { Bars } from '../../parts/spark.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { retryAll } from '../../words/class-failures.ts'
import { sum } from '../../words/counts.ts'
import { type Deploy, deployName, deployPath, deploysFor, deploysOf } from '../../words/deploy.ts'
import { errorPath, jobsPath } from '../../words/paths.ts'
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
  of?: Of
}

/** Newest first. */
export const readDeploys = ({ engine, cache, look }: Asked): Promise<Deploy[]> =>
  cache.get('deploys', FRESH, async () =>
    deploysFor(look.tenant, deploysOf((await engine.deployments.list()).deployments)),
  )

export const knownDeploy = async ({ cache }: Asked): Promise<Deploy | undefined> =>
  (await cache.last<Deploy[]>('deploys'))?.[0]

type Of = { queue?: string; class?: string }

export async function kindsOf(asked: Asked, of: Of = {}): Promise<KindsData> {
  const { engine, cache, look } = asked
  const name = kindsName(of)
  const isAll = !of.queue && !of.class
  const ask = async () => ({ ...(await engine.errors.list({ ...of, details: true, muted: true })), at: look.now })
  const [{ errors, cursor, muted }, [deploy, previous]] = await Promise.all([
    cache.get(name, FRESH, ask),
    readDeploys(asked),
  ])
  return {
    kinds: errors.filter((kind) => !kind.muted),
    muted: errors.filter((kind) => kind.muted),
    quiet: muted.filter(
      (mute) => (isAll || mute.class === of.class) && !errors.some((kind) => kind.error === mute.error),
    ),
    more: cursor !== null,
    of,
    // Without an earlier deploy, every kind of error would be marked as new.
    deploy: look.tenant === undefined ? previous && deploy : deploy,
  }
}

const [BARS, QUARTER] = [24, 900_000]

function quartersOf({ minutes = [] }: Pick<ErrorKind, 'minutes'>, now: number): number[] {
  const from = Math.floor(now / QUARTER + 1) * QUARTER - BARS * QUARTER
  return Array.from({ length: BARS }, (_, i) =>
    sum(minutes, ({ at, count }) => (Math.floor((at - from) / QUARTER) === i ? count : 0)),
  )
}

const lastHours = ({ quarters }: ShownRow): string => `${count(sum(quarters))} in the last 6 h`

type ShownKind = Omit<ErrorKind, 'frame' | 'queues' | 'jobs'>
type ShownRow = ShownKind & { quarters: number[] }

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

const textOf = ({ message, example }: ShownKind): string => cut(message || example || 'no message', 140)

function Message({ kind, deploy }: { kind: ShownKind; deploy?: Deploy }) {
  const { firstAt, example, muted } = kind
  const text = textOf(kind)
  return (
    <>
      <To to={errorPath(kind.error)}>
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
    </>
  )
}

function Acts({ kind }: { kind: ShownKind }) {
  const { error, class: of } = kind
  const name = `${of}: ${textOf(kind)}`
  return (
    <span class="row end">
      <LinkButton to={errorPath(kind.error)} small label={`See jobs of this kind, ${name}`}>
        See jobs
      </LinkButton>
      <MuteButtons kind={kind} name={name} />
      <Button {...retryAll(of, error)} small label={`Retry all of this kind, ${name}`}>
        Retry all
      </Button>
    </span>
  )
}

const columnsOf = ({ more, deploy }: KindsData): readonly Column<ShownRow>[] => [
  {
    head: 'Message, with its variable parts marked',
    kind: 'fill',
    cell: (kind) => <Message kind={kind} deploy={deploy} />,
  },
  { head: 'Class', kind: 'dim', cell: ({ class: name }) => <Name of={name} most={24} /> },
  {
    head: '#Jobs',
    cell: ({ count: n }) => (
      <b title={more ? 'some failed jobs are not counted yet' : undefined}>{atLeast(n, more && n > 0)}</b>
    ),
  },
  {
    head: '##Last 6 h',
    title: lastHours,
    cell: (row) => (
      <>
        <span class="vh">{lastHours(row)}</span>
        <Bars values={row.quarters} tone="f-failed" />
      </>
    ),
  },
  { head: '#First', kind: 'dim', cell: ({ firstAt }) => <Ago at={firstAt} /> },
  { head: '#Last', kind: 'dim', cell: ({ lastAt }) => <Ago at={lastAt} /> },
  { head: '-Mute and retry', kind: 'num', cell: (kind) => <Acts kind={kind} /> },
]

type KindsProps = { data: KindsData; muted?: boolean; all?: boolean; title?: string }

export function Kinds({ data, muted: isWhole = false, all = false, title = 'Kinds of error' }: KindsProps) {
  const { kinds, muted, quiet, more, of } = data
  const path = (changes: { kinds?: string; muted?: string }) => jobsPath({ status: 'failed', ...of, ...changes })
  const { now } = useLook()
  const n = muted.length + quiet.length
  if (kinds.length + muted.length === 0 && !(isWhole && n > 0)) return null
  const shown = all ? kinds : kinds.slice(0, SHOWN)
  const listed: ShownKind[] = [...shown, ...(isWhole ? [...muted, ...quiet.map(quietKind)] : [])]
  return (
    <Card
      title={title}
      tag={atLeast(kinds.length, more)}
      kind="kinds"
      right={
        <>
          {n > 0 && (
            <Link to={path({ muted: isWhole ? undefined : 'true' })}>
              {isWhole ? 'Hide muted kinds' : `${count(n)} muted`}
            </Link>
          )}{' '}
          {shown.length < kinds.length && <Link to={path({ kinds: 'all' })}>{`All ${count(kinds.length)} kinds`}</Link>}
        </>
      }
    >
      {shown.length === 0 && !isWhole && <Empty>The errors of all failed jobs are muted.</Empty>}
      {(shown.length > 0 || isWhole) && (
        <DataTable
          caption="Failed jobs by kind of error"
          rows={listed.map((kind) => ({ ...kind, quarters: quartersOf(kind, now) }))}
          columns={columnsOf(data)}
          kind="lined"
        />
      )}
    </Card>
  )
}
