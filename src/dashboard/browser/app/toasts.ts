// What was done, in words; with Undo for ten seconds. Errors stay until they are read.

import { base } from './page.ts'

export type Told = { say: string; link?: { text: string; to: string }; isError?: boolean; undo?: () => void }

const box = (): HTMLElement => document.getElementById('toasts')!

const STAY = 10_000

/** @example toast({ say: 'Queue mail is paused', undo: () => … }) */
export function toast({ say, link, isError, undo }: Told): void {
  const made = document.createElement('p')
  made.className = isError ? 'toast bad' : 'toast'
  made.setAttribute('role', isError ? 'alert' : 'status')
  made.append(say)
  if (link)
    made.append(
      ' ',
      Object.assign(document.createElement('a'), { className: 'link', href: base + link.to, textContent: link.text }),
    )
  const button = (text: string, act: () => void) => {
    const one = Object.assign(document.createElement('button'), {
      type: 'button',
      className: 'btn small',
      textContent: text,
    })
    one.addEventListener('click', () => {
      made.remove()
      act()
    })
    made.append(one)
  }
  if (undo) button('Undo', undo)
  if (isError) button('Close', () => undefined)
  else setTimeout(() => made.remove(), STAY)
  box().append(made)
}
