import type { Child } from 'hono/jsx'
import { useLook } from '../look.ts'

export function To(props: { to: string; kind?: string; label?: string; current?: boolean; children?: Child }) {
  const { base } = useLook()
  return (
    <a
      class={props.kind}
      href={`${base}${props.to}`}
      aria-label={props.label}
      aria-current={props.current ? 'page' : undefined}
    >
      {props.children}
    </a>
  )
}

export const Link = ({ to, children }: { to: string; children?: Child }) => (
  <To kind="link" to={to}>
    {children}
  </To>
)

export function JobId({ id }: { id: number }) {
  return (
    <To kind="id" to={`/jobs/${id}`}>
      #{id}
    </To>
  )
}

export function Head({ title, note, children }: { title: Child; note?: Child; children?: Child }) {
  return (
    <div class="head">
      <h1>{title}</h1>
      {note && (
        <span class="note" aria-live="polite">
          {note}
        </span>
      )}
      {children && <div class="right">{children}</div>}
    </div>
  )
}

export function Card(props: {
  title?: Child
  tag?: Child
  right?: Child
  kind?: string
  id?: string
  children?: Child
}) {
  const { title, tag, right, kind, id, children } = props
  return (
    <section class={`card${kind ? ` ${kind}` : ''}`} id={id}>
      {title && (
        <header>
          <h2>{title}</h2>
          {tag !== undefined && <span class="tag">{tag}</span>}
          {right && <span class="right">{right}</span>}
        </header>
      )}
      {children}
    </section>
  )
}

export function Empty({ children, act }: { children: Child; act?: Child }) {
  return (
    <div class="empty">
      <p>{children}</p>
      {act}
    </div>
  )
}

export function Choice(props: {
  label: string
  options: { text: string; to: string; on: boolean }[]
  wide?: boolean
  /** A form in the same card keeps its input. */
  ways?: true
}) {
  return (
    <nav class={`seg${props.wide ? ' wide' : ''}`} aria-label={props.label} data-ways={props.ways && ''}>
      {props.options.map(({ text, to, on }) => (
        <To to={to} current={on}>
          {text}
        </To>
      ))}
    </nav>
  )
}
