// The card with the form of a limit, a group or a constraint: it is sent by admins, and left without a change.

import type { Child } from 'hono/jsx'
import { useLook } from '../../look.ts'
import { refusal, Sent } from '../../parts/act.tsx'
import { Card, To } from '../../parts/layout.tsx'

type FormCardProps = {
  title: string
  /** The act that the form asks for, and what stands on its button. */
  act: string
  press: string
  /** The fields whose change asks for the preview anew. */
  preview?: readonly string[]
  /** Buttons below the form, for what is done without its fields. */
  foot?: Child
  children?: Child
}

/** @example <FormCard title="New limit" act="set" press="Create limit">…</FormCard> */
export function FormCard({ title, act, press, preview, foot, children }: FormCardProps) {
  const { base, who } = useLook()
  const off = refusal(who.scopes, 'admin')
  return (
    <Card
      title={title}
      kind="change"
      right={
        <To kind="link" to="/limits">
          Cancel
        </To>
      }
    >
      <form
        class="form"
        method="post"
        action={`${base}/limits`}
        data-act={act}
        data-opened
        data-preview={preview?.join(' ')}
      >
        <Sent act={act} />
        {children}
        <button class="btn primary" type="submit" disabled={off !== undefined} title={off}>
          {press}
        </button>
      </form>
      {foot && <div class="foot row">{foot}</div>}
    </Card>
  )
}
