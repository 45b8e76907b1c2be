// Buttons are forms, so that they work without scripts.

import type { Child } from 'hono/jsx'
import type { Scope } from '../../engine/engine.ts'
import { refusalOf, useLook } from '../look.ts'
import type { Button } from '../words/need.ts'
import { Icon } from './layout.tsx'

type ButtonProps = {
  icon?: string
  kind?: 'primary' | 'danger' | 'quiet'
  small?: boolean
  hotkey?: string
  label?: string
  only?: 'wide' | 'phone'
  children?: Child
}

const classesOf = ({ kind, small, only, children }: ButtonProps): string =>
  ['btn', kind, small && 'small', !children && 'icon', only].filter(Boolean).join(' ')

const Inside = ({ icon, small, hotkey, children }: ButtonProps) => (
  <>
    {icon && <Icon name={icon} size={small ? 12 : 14} />}
    {children}
    {hotkey && <kbd>{hotkey}</kbd>}
  </>
)

type ActProps = ButtonProps & {
  /** An act of this page, or of the page given by `at`. */
  act: string
  scope: Scope
  at?: string
  fields?: Record<string, string | number>
  /** The reason if no user can use the act now. */
  off?: string
}

export const useRefusal = (scope?: Scope): string | undefined => scope && refusalOf(useLook(), scope)

export function Act(props: ActProps) {
  const { act, scope, at, fields, hotkey, label } = props
  const look = useLook()
  const refusal = useRefusal(scope)
  const off = props.off ?? refusal
  return (
    <form class="act" method="post" action={`${look.base}${at ?? look.here}`} data-act={act}>
      <Sent act={act} fields={fields} />
      <button
        class={classesOf(props)}
        type="submit"
        aria-label={label}
        title={off ?? label}
        disabled={off !== undefined}
        data-hotkey={hotkey}
      >
        <Inside {...props} />
      </button>
    </form>
  )
}

type PauseProps = Omit<ActProps, 'act' | 'icon' | 'children'> & { paused: boolean; of?: string }

export function Pause({ paused, of, ...act }: PauseProps) {
  const [verb, icon, word] = paused ? ['resume', 'play', 'Resume'] : ['pause', 'pause', 'Pause']
  return (
    <Act
      {...act}
      act={verb}
      icon={icon}
      kind={paused && !act.small ? 'primary' : act.kind}
      label={of && `${word} ${of}`}
    >
      {word}
    </Act>
  )
}

export function Hidden({ of }: { of: Iterable<[name: string, value: unknown]> }) {
  return [...of].map(([name, value]) => <input type="hidden" name={name} value={String(value)} />)
}

export function Sent({ act, fields }: Pick<ActProps, 'act' | 'fields'>) {
  const { csrf } = useLook()
  return <Hidden of={Object.entries({ ...fields, csrf, act })} />
}

export function LogOut({ kind }: { kind: string }) {
  const { base, csrf } = useLook()
  return (
    <form class="leave" method="post" action={`${base}/logout`}>
      <input type="hidden" name="csrf" value={csrf} />
      <button class={kind} type="submit">
        Log out
      </button>
    </form>
  )
}

export function More({ label, small, children }: { label: string; small?: boolean; children: Child }) {
  return (
    <details class="more">
      <summary class={small ? 'btn small icon quiet' : 'btn icon'} aria-label={label} title={label}>
        <Icon name="more" size={14} />
      </summary>
      <div class="menu">{children}</div>
    </details>
  )
}

export function LinkButton(props: ButtonProps & { to: string; scope?: Scope }) {
  const { to, scope, hotkey, label } = props
  const { base } = useLook()
  const off = useRefusal(scope)
  const classes = classesOf(props)
  if (off)
    return (
      <button class={classes} type="button" disabled aria-label={label} title={off}>
        <Inside {...props} />
      </button>
    )
  return (
    <a class={classes} href={`${base}${to}`} aria-label={label} title={label} data-hotkey={hotkey}>
      <Inside {...props} />
    </a>
  )
}

export const PlainButtons = ({ of }: { of: readonly Button[] }) =>
  of.map((button) =>
    'to' in button ? (
      <LinkButton to={button.to} small>
        {button.text}
      </LinkButton>
    ) : (
      <Act {...button} small>
        {button.text}
      </Act>
    ),
  )

export function CopyButton({ text = '', label }: { text?: string; label?: string }) {
  const kind = label ? 'btn small icon quiet' : 'btn small'
  return (
    <button class={kind} type="button" data-copy={text} aria-label={label} title={label && 'Copy'}>
      <Icon name="copy" size={12} />
      {!label && 'Copy'}
    </button>
  )
}
