import { hourOf } from '../../words/text.ts'
import { loginPath, readCookie, readZone } from './page.ts'
import { toast } from './toasts.ts'

const BEFORE = 120_000
/** Milliseconds between checks. One long timer would miss logins in other tabs, and be late after a standby. */
const EVERY = 10_000

let said = ''

function look(): void {
  const until = readCookie('until')
  if (!until || said === until || Date.now() < Number(until) - BEFORE) return
  said = until
  toast({
    say: `Your session ends at ${hourOf(Number(until), readZone())}. Submit your input before then, or it is lost.`,
    link: { text: 'Log in again', to: loginPath('again') },
    isError: true,
  })
}

export function startSession(): void {
  setInterval(look, EVERY)
  look()
}
