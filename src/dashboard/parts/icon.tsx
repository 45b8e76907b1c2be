import type { Child } from 'hono/jsx'
import type { Status } from '../../core/job.ts'
import { title } from '../words/text.ts'

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

export function StatusMark({ status }: { status: Status }) {
  return (
    <span class={`st ${status}`}>
      <Shape status={status} />
      <span class="vh">{title(status)}</span>
    </span>
  )
}

export function StatusText({ status, children }: { status: Status; children: Child }) {
  return (
    <span class={`st ${status}`}>
      <Shape status={status} />
      {children}
    </span>
  )
}

export function StatusPill({ status, big, children }: { status: Status; big?: boolean; children?: Child }) {
  return (
    <span class={`st pill ${big ? 'big ' : ''}${status}`}>
      <Shape status={status} />
      {children ?? title(status)}
    </span>
  )
}
