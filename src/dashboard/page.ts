// The type of a page: its address, data, view and acts.

import type { Child } from 'hono/jsx'
import type { Scope } from '../engine/engine.ts'
import type { Engine } from '../engine/index.ts'
import type { Deps } from '../http/deps.ts'
import type { Method } from '../http/route.ts'
import type { Cache } from './cache.ts'
import type { Look } from './look.ts'
import type { NavName } from './nav.ts'

/** Calls the API as the user: with the same checks, log and answers. */
export type CallApi = (method: Method, path: string, body?: unknown) => Promise<unknown>

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

/** The question before an act that ends something or cannot be undone. */
export type Confirm = {
  title: string
  text: string[]
  /** The verb on the button; empty: there is nothing to do. */
  verb: string
  fields?: Record<string, string>
  /** The button continues the count; a script presses it. */
  isCounting?: boolean
  /** Text that the user has to type first. */
  type?: string
}

/** The result of an act. `undo`: fields of an act of the same page. */
export type Done = {
  say: string
  to?: string
  link?: { text: string; to: string }
  undo?: Record<string, string>
  /** Shown with a copy button until closed. */
  copy?: string
  /** Shown once; the user must copy it before closing it. */
  secret?: string
}

export type Act = {
  scope: Scope
  confirm?: (asked: ActAsked) => Promise<Confirm | undefined> | Confirm | undefined
  does: (asked: ActAsked) => Promise<Done>
}

type View<Data> = (props: { data: Data; look: Look; query: URLSearchParams }) => Child

/**
 * A refresh as data: values for the script of the page, and parts drawn by the server, by their ids.
 * The page repeats `as` in `data-brief`; if it differs, the page is loaded whole.
 */
export type Brief<Data> = {
  as: (data: Data) => string
  data: (data: Data) => unknown
  parts: Record<string, View<Data>>
}

export type Page<Data = unknown> = {
  /** Below the base, as routers write it: `/jobs/:job`. */
  path: string
  /** Which entry of the side bar it belongs to; none: to all of them. */
  nav?: NavName
  /** Milliseconds between refreshes; 0: never. */
  every: number
  scope?: Scope
  /** All the room: the side bar is icons only. */
  slim?: true
  load: (asked: Asked) => Promise<Data>
  title: (data: Data, look: Look) => string
  crumbs?: (data: Data, look: Look) => { name: string; to?: string }[]
  View: View<Data>
  brief?: Brief<Data>
  acts?: Record<string, Act>
  /** Scripts in addition to `app.js`: names of files in `browser/`, without extension. */
  scripts?: readonly string[]
  styles?: readonly string[]
}

/** Ties the type of the data that a page loads to its view. */
export const page = <Data>(parts: Page<Data>): Page => parts as unknown as Page

/** A page that is somewhere else: thrown while it is loaded. */
export class Elsewhere extends Error {
  readonly to: string

  constructor(to: string) {
    super(`elsewhere: ${to}`)
    this.to = to
  }
}
