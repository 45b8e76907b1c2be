// Kinds of errors: failed jobs whose errors are the same but for what varies, each kind with its number and a retry of all.

import type { Engine, ErrorKind } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import type { Act, Asked } from '../../page.ts'
import { Act as Button } from '../../parts/act.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Card, To } from '../../parts/layout.tsx'
import { Ago } from '../../parts/moment.tsx'
import { Bars } from '../../parts/spark.tsx'
import { given } from '../../words/form.ts'
import { plain } from '../../words/json.ts'
import { count, many } from '../../words/number.ts'
import { cut } from '../../words/text.ts'
import { varyingIn } from '../../words/varying.ts'

/** So many kinds are shown; looked at once a minute, for each look reads the newest failed jobs. */
const SHOWN = 6
const FRESH = 60_000

export type KindsData = { kinds: ErrorKind[]; more: boolean; deployedAt?: number }

type Deployments = Awaited<ReturnType<Engine['deployments']>>['deployments']

/** When the classes of a deployment changed last, of all of them. */
export const lastDeploy = (deployments: Deployments): number | undefined =>
  deployments.length === 0 ? undefined : Math.max(...deployments.map(({ at }) => at))

export const deploymentsOf = ({ engine, shared }: Asked): Promise<Deployments> =>
  shared('deployments', FRESH, async () => (await engine.deployments()).deployments)

type Of = { queue?: string; class?: string }

/** Under which name the kinds of errors of these jobs are shared. */
export const kindsName = ({ queue = '', class: name = '' }: Of = {}): string => `errors ${queue}\n${name}`

type Errors = Awaited<ReturnType<Engine['errors']>>

/** `asLast`: as they were when somebody asked last, and none where nobody has. @example await kindsOf(asked, { queue: 'media' }) */
export async function kindsOf(asked: Asked, of: Of = {}, asLast = false): Promise<KindsData> {
  const { engine, shared, last } = asked
  const name = kindsName(of)
  const [{ errors, cursor }, deployments] = await Promise.all([
    asLast
      ? last<Errors>(name).then((known) => known ?? { errors: [], cursor: null })
      : shared(name, FRESH, () => engine.errors({ ...of, details: true })),
    deploymentsOf(asked),
  ])
  const deployedAt = lastDeploy(deployments)
  return {
    kinds: errors.slice(0, SHOWN),
    more: errors.length > SHOWN || cursor !== null,
    ...(deployedAt === undefined ? {} : { deployedAt }),
  }
}

export const retryKind: Act = {
  scope: 'admin',
  confirm: ({ form }) => ({
    title: `Retry ${many(Number(given(form, 'count')), 'job')}?`,
    text: ['All failed jobs whose error is of this kind are tried again, with their attempts counted anew.'],
    verb: 'Retry them',
  }),
  async does({ form, call }) {
    const error = given(form, 'error')
    const { id } = (await call('POST', '/v1/bulk', { filter: { status: 'failed', error }, action: 'retry' })) as {
      id: number
    }
    return {
      say: 'The retry of this kind has begun',
      to: `/jobs?status=failed&error=${error}&bulk=${id}`,
      link: { text: `#${id}`, to: `/jobs/${id}` },
    }
  },
}

/** When jobs of a kind failed, in columns of a quarter of an hour. */
const [BARS, QUARTER] = [24, 900_000]

function Times({ minutes = [] }: Pick<ErrorKind, 'minutes'>) {
  const { now } = useLook()
  const from = Math.floor(now / QUARTER + 1) * QUARTER - BARS * QUARTER
  const columns = Array.from({ length: BARS }, () => 0)
  for (const { at, count: n } of minutes) if (at >= from) columns[Math.floor((at - from) / QUARTER)]! += n
  const sum = columns.reduce((a, b) => a + b, 0)
  return (
    <td class="num wide" title={`${count(sum)} in 6 h`}>
      <span class="vh">{`${count(sum)} in 6 h`}</span>
      <Bars values={columns} tone="f-failed" />
    </td>
  )
}

function Row({ kind, deployedAt = Number.POSITIVE_INFINITY }: { kind: ErrorKind; deployedAt?: number }) {
  const { error, class: name, count: n, firstAt, lastAt, example, message } = kind
  const text = message.length > 0 && message.length <= 140 ? message : cut(message || example || 'no message', 140)
  return (
    <tr>
      <td class="fill">
        <To to={`/jobs?status=failed&error=${error}`}>
          {varyingIn(text, example || text).map((piece) =>
            piece.varies ? <mark>{plain(cut(piece.text, 60))}</mark> : plain(piece.text),
          )}
        </To>{' '}
        {firstAt > deployedAt && (
          <span class="tag new">
            <Icon name="deploy" size={12} />
            new since the deploy
          </span>
        )}
      </td>
      <td class="dim">{cut(name, 24)}</td>
      <td class="num">
        <b>{count(n)}</b>
      </td>
      <Times minutes={kind.minutes} />
      <td class="num dim">
        <Ago at={firstAt} />
      </td>
      <td class="num dim">
        <Ago at={lastAt} />
      </td>
      <td class="num">
        <Button
          act="retryKind"
          at="/jobs"
          scope="admin"
          fields={{ error, count: n }}
          icon="retry"
          small
          label={`Retry ${many(n, 'job')} of ${name}: ${text}`}
        >
          Retry {count(n)}
        </Button>
      </td>
    </tr>
  )
}

export function Kinds({ data: { kinds, more, deployedAt } }: { data: KindsData }) {
  if (kinds.length === 0) return null
  return (
    <Card title="Kinds of errors" tag={`${count(kinds.length)}${more ? ' and more' : ''}`} kind="kinds">
      <table class="tbl">
        <caption class="vh">Failed jobs by kinds of errors, of the newest 1,000</caption>
        <thead>
          <tr>
            <th scope="col">Message, with what varies marked</th>
            <th scope="col">Class</th>
            {['Jobs', '6 h', 'First', 'Last'].map((head) => (
              <th scope="col" class={`num${head === '6 h' ? ' wide' : ''}`}>
                {head}
              </th>
            ))}
            <th scope="col">
              <span class="vh">Retry</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {kinds.map((kind) => (
            <Row kind={kind} deployedAt={deployedAt} />
          ))}
        </tbody>
      </table>
    </Card>
  )
}
