import type { Child } from 'hono/jsx'
import type { Scope } from '../../engine/engine.ts'
import { useLook } from '../look.ts'
import { Sent, useRefusal } from './act.tsx'

export type FormProps = {
  act: string
  scope: Scope
  press: Child
  at?: string
  fields?: Record<string, string>
  kind?: string
  button?: string
  label?: string
  preview?: readonly string[]
  isOpened?: boolean
  isIsland?: boolean
  /** The fields keep their values after the act. */
  isKept?: boolean
  children?: Child
}

export function Form(props: FormProps) {
  const { act, scope, press, at, fields, kind = 'form', button = 'primary', label, preview, children } = props
  const { base, here } = useLook()
  const off = useRefusal(scope)
  return (
    <form
      class={kind || undefined}
      method="post"
      action={`${base}${at ?? here}`}
      data-act={act}
      data-opened={props.isOpened && ''}
      data-keeps={props.isKept && ''}
      data-island={props.isIsland && ''}
      data-preview={preview?.join(' ')}
    >
      <Sent act={act} fields={fields} />
      {children}
      <button class={`btn ${button}`.trim()} type="submit" disabled={off !== undefined} title={off} aria-label={label}>
        {press}
      </button>
    </form>
  )
}
