import type { Child } from 'hono/jsx'
import { Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Card, Link } from '../../parts/layout.tsx'

type FormCardProps = {
  title: string
  act: string
  press: string
  preview?: readonly string[]
  foot?: Child
  children?: Child
}

type Bound = 'note' | 'concurrency' | 'limit' | 'period'

export const Bounds = ({ note, concurrency, limit, period }: { [Name in Bound]?: string }) => (
  <>
    <Field name="concurrency" label="Max running" type="number" note={note} value={concurrency} />
    <Field name="limit" label="Starts per period" type="number" value={limit} />
    <Field name="period" label="Period" placeholder="1m" value={period} />
  </>
)

export function FormCard({ title, act, press, preview, foot, children }: FormCardProps) {
  return (
    <Card title={title} kind="change" right={<Link to="/limits">Cancel</Link>}>
      <Form act={act} scope="admin" press={press} at="/limits" preview={preview} isOpened>
        {children}
      </Form>
      {foot && <div class="foot row">{foot}</div>}
    </Card>
  )
}
