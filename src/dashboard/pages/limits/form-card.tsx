import type { Child } from 'hono/jsx'
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
