import { SidejobError } from '../../../core/errors.ts'
import type { Act, Asked } from '../../page.ts'
import { Hidden, useRefusal } from '../../parts/act.tsx'
import { Form } from '../../parts/form.tsx'
import { Card, Link } from '../../parts/layout.tsx'
import { naming } from '../../words/form.ts'
import { workerPath } from '../../words/paths.ts'
import { cut } from '../../words/text.ts'
import {
  jsonFields,
  type WorkerField,
  type WorkerTexts,
  workerFields,
  workerPatchOf,
  workerTexts,
} from '../../words/worker.ts'
import type { Worker } from './classes.tsx'
import { WorkerFields } from './register.tsx'
import { type Unfit, UnfitLine } from './unfit.tsx'

const isFunction = ({ push, pull }: Worker): boolean => !push && !pull

export async function found({ engine, params }: Asked): Promise<{ worker: Worker; workers: Worker[] }> {
  const { workers } = await engine.workers.list()
  const worker = workers.find((one) => one.queue === params.queue && one.class === params.class)
  if (!worker) throw new SidejobError('NOT_FOUND', `there is no class ${params.class} in queue ${params.queue}`)
  return { worker, workers }
}

const textsIn = (form: FormData, is: WorkerTexts, before = ''): WorkerTexts =>
  Object.fromEntries(
    workerFields.map((name) => {
      const text = form.get(`${before}${name}`) ?? form.get(name)
      return [name, typeof text === 'string' && form.has(name) ? text.trim().replaceAll('\r\n', '\n') : is[name]]
    }),
  ) as WorkerTexts

const oneLine = (text: string): string => text.replace(/\n */g, '') || 'nothing'

function checkStill(changed: readonly WorkerField[], was: WorkerTexts, is: WorkerTexts): void {
  const name = changed.find((name) => oneLine(was[name]) !== oneLine(is[name]))
  if (name)
    throw new SidejobError(
      'CONFLICT',
      `${name}: expected ${oneLine(was[name])} (the value when the form was loaded), got ${oneLine(is[name])} (set by another user)`,
      { path: [name] },
    )
}

const lostWith = ({ push }: Worker): string[] => [
  ...(push?.secret === undefined ? [] : ['secret']),
  ...(push?.format === undefined ? [] : ['format']),
]

export const change: Act = {
  scope: 'admin',
  async does(asked) {
    const { form, params, call } = asked
    const { worker } = await found(asked)
    const is = workerTexts(worker)
    const [was, wanted] = [textsIn(form, is, 'was_'), textsIn(form, is)]
    const changed = workerFields.filter((name) => wanted[name] !== was[name])
    if (changed.length === 0) return { say: `${params.class} is unchanged` }
    checkStill(changed, was, is)
    const path = workerPath(params.queue!, params.class!)
    await naming(jsonFields, call('PATCH', `/v1${path}`, workerPatchOf(wanted, is)))
    const say = `${params.class} changed: ${changed.join(', ')}`
    const lost = wanted.served === 'pull' ? lostWith(worker) : []
    if (lost.length > 0) return { say: `${say}; the ${lost.join(' and ')} of its address were also removed`, to: path }
    const now = workerTexts((await found(asked)).worker)
    const back = changed.flatMap((name) => [
      [name, is[name]],
      [`was_${name}`, now[name]],
    ])
    return { say, to: path, undo: { act: 'change', ...Object.fromEntries(back) } }
  },
}

/** Keeps the class as it was when the form opened, so that conflicts are detected. */
export function Change({ worker, unfit }: { worker: Worker; unfit?: Unfit }) {
  const path = workerPath(worker.queue, worker.class)
  if (useRefusal('admin')) return null
  if (isFunction(worker))
    return (
      <Card title={`Change ${cut(worker.class, 40)}`}>
        <p class="note">This class is a function: change its code, and deploy it.</p>
      </Card>
    )
  const texts = workerTexts(worker)
  return (
    <Card title={`Change ${cut(worker.class, 40)}`} id="change" right={<Link to={path}>Cancel</Link>}>
      <Form act="change" scope="admin" press="Save" at={path} preview={['change', 'in', 'args']} isOpened isIsland>
        <Hidden of={workerFields.map((name) => [`was_${name}`, texts[name]])} />
        <WorkerFields values={texts} />
      </Form>
      <UnfitLine unfit={unfit} />
    </Card>
  )
}
