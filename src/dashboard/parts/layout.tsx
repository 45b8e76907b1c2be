import type { Child } from 'hono/jsx'
import type { Status } from '../../core/job.ts'
import { useLook } from '../look.ts'
import { about, ago, count, cut, moment, plain, span, title } from '../words/text.ts'

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

export function Zero({ n, to, kind, text = count(n) }: { n: number; to?: string; kind?: string; text?: string }) {
  if (n === 0) return <span class="dimmer">0</span>
  if (to === undefined) return <>{text}</>
  return (
    <To kind={kind} to={to}>
      {text}
    </To>
  )
}

export function JobId({ id }: { id: number }) {
  return (
    <To kind="id" to={`/jobs/${id}`}>
      #{id}
    </To>
  )
}

export function JobIds({ of, most, all }: { of: readonly { job: number }[]; most: number; all: number }) {
  const left = all - Math.min(of.length, most)
  return (
    <>
      {of.slice(0, most).map(({ job }) => (
        <>
          <JobId id={job} />{' '}
        </>
      ))}
      {left > 0 && `and ${count(left)} more`}
    </>
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

export function Choice(props: { label: string; options: { text: string; to: string; on: boolean }[] }) {
  return (
    <nav class="seg" aria-label={props.label}>
      {props.options.map(({ text, to, on }) => (
        <To to={to} current={on}>
          {text}
        </To>
      ))}
    </nav>
  )
}

type NameProps = { of: string; most?: number; kind?: string; isMain?: boolean }

export function Name({ of, most, kind, isMain }: NameProps) {
  const text = cut(of, most)
  const whole = plain(of)
  const title = text === whole ? undefined : whole
  const Kind = isMain ? 'b' : 'span'
  if (Kind === 'span' && !kind && !title) return <>{text}</>
  return (
    <Kind class={kind} title={title}>
      {text}
    </Kind>
  )
}

export const NameLink = ({ to, kind, ...name }: NameProps & { to: string }) => (
  <To to={to} kind={kind}>
    <Name {...name} />
  </To>
)

export const Tag = ({ of }: { of: string }) => (
  <span class="tag" title={plain(of)}>
    {cut(of, 24)}
  </span>
)

export function Ago({ at, word }: { at: number; word?: string }) {
  const { now, zone } = useLook()
  return (
    <>
      {word && `${word} `}
      <time datetime={new Date(at).toISOString()} title={moment(at, zone)} data-ago={at}>
        {ago(at, now, zone)}
      </time>
    </>
  )
}

export function Since({ at, short }: { at: number; short?: boolean }) {
  const { now, zone } = useLook()
  const format = short ? about : span
  return (
    <time datetime={new Date(at).toISOString()} title={moment(at, zone)} data-since={at} data-short={short && ''}>
      {format(now - at)}
    </time>
  )
}

export function Icon({ name, size, kind = '' }: { name: string; size?: 12 | 14; kind?: string }) {
  return (
    <svg class={`i ${size ? `i${size}` : ''} ${kind}`.replace(/ +/g, ' ').trim()} aria-hidden="true">
      <use href={`#${name}`} />
    </svg>
  )
}

export function Shape({ status, spins = true }: { status: Status | 'scheduled'; spins?: boolean }) {
  return (
    <svg
      class={status === 'running' && spins ? 'spin' : undefined}
      width="14"
      height="14"
      viewBox="0 0 14 14"
      aria-hidden="true"
    >
      <use href={`#s-${status}`} />
    </svg>
  )
}

type StatusProps = { status: Status; kind?: string; children?: Child }

export function StatusText({ status, kind = '', children }: StatusProps) {
  return (
    <span class={`st ${kind}${status}`}>
      <Shape status={status} />
      {children}
    </span>
  )
}

export const StatusMark = ({ status }: StatusProps) => (
  <StatusText status={status}>
    <span class="vh">{title(status)}</span>
  </StatusText>
)

export const StatusPill = ({ status, big, children }: StatusProps & { big?: boolean }) => (
  <StatusText status={status} kind={big ? 'pill big ' : 'pill '}>
    {children ?? title(status)}
  </StatusText>
)
