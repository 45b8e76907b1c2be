import type { Child } from 'hono/jsx'
import type { Scope } from '../engine/engine.ts'
import type { Engine } from '../engine/index.ts'
import type { Deps } from '../http/deps.ts'
import type { Method } from '../http/route.ts'
import type { Cache } from './cache.ts'
import type { Look } from './look.ts'
import type { NavName } from './nav.ts'

export type CallApi = <Answer>(method: Method, path: string, body?: unknown, reason?: string) => Promise<Answer>

export type Asked = {
  engine: Engine
  deps: Deps
  params: Record<string, string>
  query: URLSearchParams
  look: Look
  call: CallApi
  cache: Cache
}

export type ActAsked = Asked & { form: FormData }

export type Confirm = {
  title: string
  text: string[]
  /** Empty if there is nothing to do. */
  verb: string
  fields?: Record<string, string>
  /** A script presses the button to continue counting. */
  isCounting?: boolean
  type?: string
  reason?: true
  isSafe?: boolean
}

/** `undo`: form fields of the act that undoes this act, on the same page. */
export type Done = {
  say: string
  to?: string
  link?: { text: string; to: string }
  undo?: Record<string, string>
  secret?: string
}

export type Act = {
  scope: Scope
  confirm?: (asked: ActAsked) => Promise<Confirm | undefined> | Confirm | undefined
  does: (asked: ActAsked) => Promise<Done>
}

type View<Data> = (props: { data: Data; look: Look; query: URLSearchParams }) => Child

/** `as` identifies the content of the page. If an update has a different `as`, the browser loads the whole page. */
export type Brief<Data> = {
  as: (data: Data) => string
  data: (data: Data) => unknown
  parts: Record<string, View<Data>>
}

export type Page<Data = unknown> = {
  path: string
  nav?: NavName
  navOf?: (data: Data) => NavName
  /** Milliseconds between refreshes; 0 means never. */
  every: number
  /** The side bar shows only icons. */
  slim?: true
  load: (asked: Asked) => Promise<Data>
  /** By default, the title of the section. */
  title?: (data: Data, look: Look) => string
  /** By default, the title, unless the page is the start of its section. */
  crumbs?: (data: Data, look: Look) => { name: string; to?: string }[]
  View: View<Data>
  brief?: Brief<Data>
  acts?: Record<string, Act>
  scripts?: readonly string[]
  styles?: readonly string[]
}

export const page = <Data>(parts: Page<Data>): Page => parts as unknown as Page

/** If `load` throws this, the response is a redirect. `to` is a path of the dashboard, or a whole URL. */
export class Elsewhere extends Error {
  readonly to: string

  constructor(to: string) {
    super(`elsewhere: ${to}`)
    this.to = to
  }
}
