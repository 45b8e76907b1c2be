import type { Act } from '../../page.ts'
import { LinkButton } from '../../parts/act.tsx'
import { Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Card, Head } from '../../parts/layout.tsx'
import { Snippet } from '../../parts/snippet.tsx'
import { given, naming } from '../../words/form.ts'
import { workerPath } from '../../words/paths.ts'
import { jsonFields, textsIn, workerBodyOf, workerFields, workerTexts } from '../../words/worker.ts'
import type { Worker } from './classes.tsx'
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
          preview={['register', 'queue', 'class', ...workerFields]}
          isOpened
        >
          <Field name="queue" label="Queue" note="a new name creates a queue" value="default" required mono />
          <Field name="class" label="Class" placeholder="resize" required mono />
          <Fields values={NOTHING} isNew />
          <Preview draft={draft} taken={taken} query={query} />
        </Form>
      </Card>
      <Snippet title="Create a pull worker in Python" text="npx sidejob create my-worker --template python" />
    </div>
  </>
)
