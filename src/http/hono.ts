import type { Env, Hono } from 'hono'
import { HonoBase, type HonoOptions } from 'hono/hono-base'
import { TrieRouter } from 'hono/router/trie-router'

/** Hono's RegExpRouter refuses our routes and adds 10 KiB to each Worker. */
export const createHono = <E extends Env>(options?: HonoOptions<E>): Hono<E> =>
  new HonoBase<E>({ ...options, router: new TrieRouter() })
