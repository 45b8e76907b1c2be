import { SidejobError } from '../../../core/errors.ts'
import type { WorkerUnfit } from '../../../engine/engine.ts'
import { may } from '../../look.ts'
import type { Asked } from '../../page.ts'
import { Curl } from '../../parts/job-code.tsx'
import { differenceOf } from '../../words/difference.ts'
import { maybe } from '../../words/form.ts'
import { workerPath } from '../../words/paths.ts'
import { cut } from '../../words/text.ts'
import { textsIn, unfitWords, workerBodyOf, workerFields, workerPatchOf, workerTexts } from '../../words/worker.ts'
import { kindOf, type Worker } from './classes.tsx'
import { fields } from './fields.tsx'

export type Draft = { method: 'PUT' | 'PATCH'; path: string; body: string; message: string }

type Class = Pick<Worker, 'queue' | 'class'>

async function drawn(
  { call }: Asked,
  method: Draft['method'],
  { queue, class: name }: Class,
  bodyOf: () => string,
  isAsked: boolean,
): Promise<Draft> {
  const draft = { method, path: `/v1${workerPath(queue, name)}`, body: '', message: '' }
  try {
    const body = bodyOf()
    if (!isAsked) return { ...draft, body }
    const { unfit } = await call<{ unfit: WorkerUnfit }>(method, `${draft.path}?preview=true`, body)
    return { ...draft, body, message: unfitWords(unfit) }
  } catch (error) {
    if (error instanceof SidejobError) return { ...draft, message: error.message }
    throw error
  }
}

export function draftOfChange(asked: Asked, worker: Worker): Promise<Draft> | undefined {
  // Functions can be changed only in their code.
  if (!asked.query.has('change') || !may(asked.look, 'admin') || kindOf(worker) === 'function') return undefined
  const was = workerTexts(worker)
  const is = textsIn(asked.query, was)
  const isOfJobs = is.in !== was.in || is.args !== was.args
  return drawn(asked, 'PATCH', worker, () => workerPatchOf(is, was), isOfJobs)
}

export function draftOfNew(asked: Asked): Promise<Draft> | undefined {
  const { query, look } = asked
  if (!query.has('register') || !may(look, 'admin')) return undefined
  const name = maybe(query, 'class')
  const of = { queue: maybe(query, 'queue') ?? 'default', class: name ?? 'resize' }
  return drawn(asked, 'PUT', of, () => workerBodyOf(textsIn(query, workerTexts({}))), name !== undefined)
}

function Differences({ worker, query }: { worker: Worker; query: URLSearchParams }) {
  const was = workerTexts(worker)
  const is = textsIn(query, was)
  const linesOf = (text: string) => text.split('\n').flatMap((line) => line.replace(/,$/, '') || [])
  return (
    <pre tabindex={0}>
      {workerFields
        .filter((name) => is[name] !== was[name])
        .map((name) => (
          <>
            <b>{`${fields[name].label}\n`}</b>
            {differenceOf(linesOf(was[name]), linesOf(is[name])).map(({ sign, line }) => (
              <span class={sign === '-' ? 'w' : 's'}>{`${sign} ${line}\n`}</span>
            ))}
          </>
        ))}
    </pre>
  )
}

type PreviewProps = { draft?: Draft; changed?: Worker; taken?: Worker; query: URLSearchParams }

export function Preview({ draft, changed, taken, query }: PreviewProps) {
  return (
    <div id="preview" data-island>
      <p class="note" role="status">
        {draft &&
          taken &&
          `${cut(taken.class, 60)} is registered already (${kindOf(taken)}): this form replaces it entirely. `}
        {draft && cut(draft.message, 300)}
      </p>
      {draft && draft.body.length > 2 && (
        <>
          {changed && <Differences worker={changed} query={query} />}
          <Curl {...draft} />
        </>
      )}
    </div>
  )
}
