import { parseJson } from '../../../core/codec/json.ts'
import { SidejobError } from '../../../core/errors.ts'
import { check } from '../../../core/issues.ts'
import { closedIn, worker as definitionSchema, workerName, workerPatch } from '../../../core/schemas.ts'
import type { WorkerUnfit } from '../../../engine/engine.ts'
import { may } from '../../look.ts'
import type { Asked } from '../../page.ts'
import { cut } from '../../words/text.ts'
import { unfitWords, workerBodyOf, workerPatchOf, workerTexts } from '../../words/worker.ts'
import { kindOf, type Worker } from './classes.tsx'

export type Unfit = WorkerUnfit | string

const typedIn = (query: URLSearchParams, was: { in: string; args: string }) => ({
  in: query.get('in') ?? was.in,
  args: query.get('args') ?? was.args,
})

async function orRefusal(ask: () => Promise<{ unfit?: WorkerUnfit }>): Promise<Unfit> {
  try {
    return (await ask()).unfit!
  } catch (error) {
    if (error instanceof SidejobError) return error.message
    throw error
  }
}

export function unfitOfChange(asked: Asked, worker: Worker): Promise<Unfit> | undefined {
  const { engine, query, look } = asked
  if (!query.has('change') || !(query.has('in') || query.has('args')) || !may(look, 'admin')) return undefined
  const was = workerTexts(worker)
  return orRefusal(() => {
    const patch = parseJson(workerPatchOf({ ...was, ...typedIn(query, was) }, was), closedIn(workerPatch))
    return engine.workers.update(worker.queue, worker.class, check(workerPatch, patch), { preview: true })
  })
}

const NOTHING = workerTexts({})

export function unfitOfNew({ engine, query, look }: Asked): Promise<Unfit> | undefined {
  const [queue, name] = [query.get('queue')?.trim(), query.get('class')?.trim()]
  if (!query.has('register') || !queue || !name || !may(look, 'admin')) return undefined
  return orRefusal(() => {
    const of = check(workerName, { queue, class: name })
    const body = parseJson(workerBodyOf({ ...NOTHING, ...typedIn(query, NOTHING) }), closedIn(definitionSchema))
    return engine.workers.register(of.queue, of.class, check(definitionSchema, body), { preview: true })
  })
}

const takenWords = (worker: Worker): string =>
  `${cut(worker.class, 60)} is registered already (${kindOf(worker)}): this form replaces it entirely.`

export function UnfitLine({ unfit, taken }: { unfit?: Unfit; taken?: Worker }) {
  return (
    <p class="note foot" id="preview" role="status" data-island>
      {unfit !== undefined && taken && `${takenWords(taken)} `}
      {unfit !== undefined && cut(typeof unfit === 'string' ? unfit : unfitWords(unfit), 300)}
    </p>
  )
}
