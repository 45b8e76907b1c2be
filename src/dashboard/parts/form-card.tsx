import type { Child } from 'hono/jsx'
import { Form, type FormProps } from './form.tsx'
import { Card, Link } from './layout.tsx'

type FormCardProps = Omit<FormProps, 'at'> & { title: string; at: string; foot?: Child }

export const FormCard = ({ title, foot, ...form }: FormCardProps) => (
  <Card title={title} kind="change" right={<Link to={form.at}>Cancel</Link>}>
    <Form {...form} isOpened />
    {foot && <div class="foot row">{foot}</div>}
  </Card>
)
