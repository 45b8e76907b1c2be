import { SidejobError } from '../../../core/errors.ts'
import type { Act, Asked } from '../../page.ts'
import { Hidden, LinkButton } from '../../parts/act.tsx'
import { Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Card, Head, Link } from '../../parts/layout.tsx'
import { CREATE_WORKER, Snippet } from '../../parts/snippet.tsx'
import { given, naming } from '../../words/form.ts'
import { workerPath } from '../../words/paths.ts'
import {
  jsonFields,
  textsIn,
  type WorkerField,
  type WorkerTexts,
  workerBodyOf,
  workerFields,
  workerPatchOf,
  workerTexts,
} from '../../words/worker.ts'
import { named, type Worker } from './classes.tsx'
import { type Draft, Preview } from './draft.tsx'
import { Fields } from './fields.tsx'

const NOTHING = workerTexts({})

export const register: Act = {
  scope: 'admin',
  async does({ form, call }) {
    const [queue, name] = [given(form, 'queue'), given(form, 'class')]
    const to = workerPath(queue, name)
    await naming(jsonFields, call('PUT', `/v1${to}`, workerBodyOf(textsIn(form, NOTHING))))
    return { say: `${queue}/${name} registered`, to, link: { text: name, to } }
  },
}

type RegisterProps = { draft?: Draft; taken?: Worker; query: URLSearchParams }

export const Register = ({ draft, taken, query }: RegisterProps) => (
  <>
    <Head title="Register a class" note="for workers in any language, and for HTTP endpoints">
      <LinkButton to="/workers">Cancel</LinkButton>
    </Head>
    <p class="lead dim">
      Jobs of the class can be created immediately. They wait until a pull worker claims them, or sidejob calls the
      address. TypeScript functions register themselves when you deploy them.
    </p>
    <div class="cols c21">
      <Card id="register">
        <Form
          act="register"
          scope="admin"
          press="Register"
          at="/workers"
          fields={{ register: '' }}
          preview={['queue', 'class', ...workerFields]}
          isOpened
        >
          <Field name="queue" label="Queue" note="a new name creates a queue" value="default" required mono />
          <Field name="class" label="Class" placeholder="resize" required mono />
          <Fields values={NOTHING} isNew />
          <Preview draft={draft} taken={taken} query={query} />
        </Form>
      </Card>
      <Snippet title="Create a pull worker in Python" text={CREATE_WORKER} />
    </div>
  </>
)

export async function found({ engine, params }: Asked): Promise<Worker> {
  const { workers } = await engine.workers.list()
  const worker = named(workers, params.queue, params.class)
  if (!worker) throw new SidejobError('NOT_FOUND', `there is no class ${params.class} in queue ${params.queue}`)
  return worker
}

const oneLine = (text: string): string => text.replace(/\n */g, '') || 'nothing'

function checkStill(changed: readonly WorkerField[], was: WorkerTexts, is: WorkerTexts): void {
  const name = changed.find((name) => oneLine(was[name]) !== oneLine(is[name]))
  if (name)
    throw new SidejobError(
      'CONFLICT',
      `${name}: another user changed it from ${oneLine(was[name])} to ${oneLine(is[name])}. Reload the page, then change it again`,
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
    const worker = await found(asked)
    const is = workerTexts(worker)
    const wanted = textsIn(form, is)
    const was = textsIn({ get: (name) => form.get(`was_${name}`) }, wanted)
    const changed = workerFields.filter((name) => wanted[name] !== was[name])
    if (changed.length === 0) return { say: `${params.class} is unchanged` }
    checkStill(changed, was, is)
    const path = workerPath(params.queue!, params.class!)
    await naming(jsonFields, call('PATCH', `/v1${path}`, workerPatchOf(wanted, is)))
    const say = `${params.class} changed: ${changed.join(', ')}`
    const lost = wanted.served === 'pull' ? lostWith(worker) : []
    if (lost.length > 0) return { say: `${say}; the ${lost.join(' and ')} of its address were also removed`, to: path }
    const now = workerTexts(await found(asked))
    const back = changed.flatMap((name) => [
      [name, is[name]],
      [`was_${name}`, now[name]],
    ])
    return { say, to: path, undo: { act: 'change', ...Object.fromEntries(back) } }
  },
}

type ChangeProps = { worker: Worker; draft: Draft; query: URLSearchParams }

export function Change({ worker, draft, query }: ChangeProps) {
  const path = workerPath(worker.queue, worker.class)
  const texts = workerTexts(worker)
  return (
    <Card title="Change" id="change" right={<Link to={path}>Cancel</Link>}>
      <Form
        act="change"
        scope="admin"
        press="Save"
        at={path}
        fields={{ change: '' }}
        preview={workerFields}
        isOpened
        isIsland
      >
        <Hidden of={workerFields.map((name) => [`was_${name}`, texts[name]])} />
        <Fields values={texts} />
        <Preview draft={draft} changed={worker} query={query} />
      </Form>
    </Card>
  )
}
