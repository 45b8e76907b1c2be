// A form that changes a registered class where it stands: only what was changed in it is said, and only where nobody else
// has changed the same meanwhile.

import { parseJson } from '../../../core/codec/json.ts'
import { SidejobError } from '../../../core/errors.ts'
import { check } from '../../../core/issues.ts'
import { closedIn, type WorkerUnfit, workerPatch } from '../../../core/schemas.ts'
import { useLook } from '../../look.ts'
import type { Act, ActAsked, Asked } from '../../page.ts'
import { refusal, Sent } from '../../parts/act.tsx'
import { Card, To } from '../../parts/layout.tsx'
import { naming } from '../../words/form.ts'
import { count, many } from '../../words/number.ts'
import { cut } from '../../words/text.ts'
import { type WorkerField, type WorkerTexts, workerFields, workerPatchOf, workerTexts } from '../../words/worker.ts'
import type { Worker } from './classes.tsx'
import { pathOf } from './one.tsx'
import { WorkerFields } from './register.tsx'

const isFunction = ({ push, pull }: Worker): boolean => !push && !pull

async function found({ engine, params }: ActAsked): Promise<WorkerTexts> {
  const { workers } = await engine.workers()
  const worker = workers.find((one) => one.queue === params.queue && one.class === params.class)
  if (!worker) throw new SidejobError('NOT_FOUND', `there is no class ${params.class} in queue ${params.queue}`)
  return workerTexts(worker)
}

/** What stands in the form, or stood there when it was drawn; of what is not in it: as it is. */
const textsIn = (form: FormData, is: WorkerTexts, before = ''): WorkerTexts =>
  Object.fromEntries(
    workerFields.map((name) => {
      const text = form.get(`${before}${name}`) ?? form.get(name)
      return [name, typeof text === 'string' && form.has(name) ? text.trim().replaceAll('\r\n', '\n') : is[name]]
    }),
  ) as WorkerTexts

/** @throws where somebody has changed one of these fields since the form was drawn. */
function checkStill(changed: readonly WorkerField[], was: WorkerTexts, is: WorkerTexts): void {
  const name = changed.find((name) => was[name] !== is[name])
  if (name)
    throw new SidejobError(
      'CONFLICT',
      `${name}: expected ${was[name] || 'nothing'}, as the form was drawn, got ${is[name] || 'nothing'}, which somebody has set meanwhile`,
      { path: [name] },
    )
}

/** What of those that wait would not fit what is typed; a sentence where it cannot be read. */
export async function unfitOf(
  { engine, query }: Pick<Asked, 'engine' | 'query'>,
  worker: Worker,
): Promise<WorkerUnfit | string> {
  const was = workerTexts(worker)
  const typed = { in: query.get('in') ?? was.in, args: query.get('args') ?? was.args }
  try {
    const text = JSON.stringify(workerPatchOf({ ...was, ...typed }, was))
    const patch = check(workerPatch, parseJson(text, closedIn(workerPatch)))
    const { unfit } = await engine.patchWorker(worker.queue, worker.class, patch, { preview: true })
    return unfit!
  } catch (error) {
    if (error instanceof SidejobError) return error.message
    throw error
  }
}

/** @example unfitWords({ jobs: 2, looked: 100, more: true, values: [] }) // '2 of the newest 100 jobs that wait do not fit' */
function unfitWords({ jobs, looked, more, values }: WorkerUnfit): string {
  const all = `${more ? `the newest ${count(looked)}` : count(looked)} that wait`
  if (jobs === 0) return looked === 0 ? 'No job of it waits.' : `All of ${all} fit.`
  const [first] = values
  const where = first!.port === null ? 'args' : `port ${first!.port}`
  return `${many(jobs, 'job')} of ${all} would not fit. #${first!.job}, ${where}: ${first!.why}`
}

export const change: Act = {
  scope: 'admin',
  async does(asked) {
    const { form, params, call } = asked
    const is = await found(asked)
    const [was, wanted] = [textsIn(form, is, 'was_'), textsIn(form, is)]
    const changed = workerFields.filter((name) => wanted[name] !== was[name])
    if (changed.length === 0) return { say: `${params.class} stays as it is` }
    checkStill(changed, was, is)
    const path = pathOf(params.queue!, params.class!)
    await naming(['in', 'args'], call('PATCH', `/v1${path}`, workerPatchOf(wanted, is)))
    const now = await found(asked)
    const back = changed.flatMap((name) => [
      [name, is[name]],
      [`was_${name}`, now[name]],
    ])
    return {
      say: `${params.class} is changed: ${changed.join(', ')}`,
      to: path,
      undo: { act: 'change', ...Object.fromEntries(back) },
    }
  },
}

/** It stays as it was drawn for as long as it is open, so that what others change meanwhile is seen when it is sent. */
export function Change({ worker, unfit }: { worker: Worker; unfit?: WorkerUnfit | string }) {
  const { base, who } = useLook()
  const path = pathOf(worker.queue, worker.class)
  if (refusal(who.scopes, 'admin')) return null
  if (isFunction(worker))
    return (
      <Card title={`Change ${cut(worker.class, 40)}`}>
        <p class="note">A function says itself what it is: change it in its code, and deploy it.</p>
      </Card>
    )
  const texts = workerTexts(worker)
  return (
    <Card
      title={`Change ${cut(worker.class, 40)}`}
      id="change"
      right={
        <To kind="link" to={path}>
          Leave it
        </To>
      }
    >
      <form
        class="form"
        method="post"
        action={`${base}${path}`}
        data-act="change"
        data-preview="change in args"
        data-island
      >
        <Sent act="change" />
        {workerFields.map((name) => (
          <input type="hidden" name={`was_${name}`} value={texts[name]} />
        ))}
        <WorkerFields values={texts} />
        <button class="btn primary" type="submit">
          Change it
        </button>
      </form>
      <p class="note foot" id="preview" role="status" data-island>
        {unfit !== undefined && cut(typeof unfit === 'string' ? unfit : unfitWords(unfit), 300)}
      </p>
    </Card>
  )
}
