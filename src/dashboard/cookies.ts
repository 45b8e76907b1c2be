import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { isLocal } from '../core/url.ts'
import type { Preferences } from './look.ts'
import { isZone } from './words/text.ts'

const SESSION = 'sidejob_session'
const SAID = 'sidejob_said'
const UNTIL = 'until'
export const SESSION_MS = 43_200_000

/** Omits `Secure` for http on loopback, because browsers would not send the cookies. */
const common = (c: Context, base: string) => {
  const { url } = c.req
  return { path: base, sameSite: 'Strict', secure: url.startsWith('https:') || !isLocal(url) } as const
}

export const sessionOf = (c: Context): string | undefined => getCookie(c, SESSION)

export function keepSession(c: Context, base: string, name: string): void {
  setCookie(c, SESSION, name, { ...common(c, base), maxAge: SESSION_MS / 1_000, httpOnly: true })
  setCookie(c, UNTIL, String(Date.now() + SESSION_MS), { ...common(c, base), maxAge: SESSION_MS / 1_000 })
}

export function dropSession(c: Context, base: string): void {
  deleteCookie(c, SESSION, common(c, base))
  deleteCookie(c, UNTIL, common(c, base))
}

export const setFlash = (c: Context, base: string, text: string): void =>
  setCookie(c, SAID, text.slice(0, 500), { ...common(c, base), maxAge: 30, httpOnly: true })

export function takeFlash(c: Context, base: string): string | undefined {
  const text = getCookie(c, SAID)
  if (text) deleteCookie(c, SAID, common(c, base))
  return text || undefined
}

export function preferencesOf(c: Context): Preferences {
  const { theme, density, zone = 'UTC' } = getCookie(c)
  return {
    ...(theme === 'light' || theme === 'dark' ? { theme } : {}),
    ...(density === 'compact' ? { density } : {}),
    zone: isZone(zone) ? zone : 'UTC',
  }
}
