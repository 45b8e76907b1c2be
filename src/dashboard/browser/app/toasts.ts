// Results of acts, with Undo for ten seconds.

import { base } from './page.ts'

export type Told = {
  say: string
  link?: { text: string; to: string }
  isError?: boolean
  undo?: () => void
  copy?: string
  at?: Element | null
}

const box = (): HTMLElement => document.getElementById('toasts')!

const STAY = 10_000

/** Pixels: width of a toast next to a button, space around it, and the width below which it goes to the corner. */
const [WIDE, FREE, PHONE] = [340, 8, 760]

function putBeside(made: HTMLElement, at: Element): void {
  const { left, bottom, width } = at.getBoundingClientRect()
  made.classList.add('at')
  made.style.left = `${Math.max(FREE, Math.min(left, innerWidth - WIDE - FREE))}px`
  made.style.top = `${bottom + FREE}px`
  const hasRoom = width > 0 && made.getBoundingClientRect().bottom <= innerHeight && innerWidth >= PHONE
  const back = (): void => {
    made.classList.remove('at')
    made.style.left = ''
    made.style.top = ''
  }
  if (!hasRoom) back()
  else for (const moved of ['scroll', 'resize']) addEventListener(moved, back, { once: true, capture: true })
}

export function toast({ say, link, isError, undo, copy, at }: Told): void {
  const made = document.createElement('p')
  made.className = isError ? 'toast bad' : 'toast'
  made.setAttribute('role', isError ? 'alert' : 'status')
  made.append(say)
  if (link)
    made.append(
      ' ',
      Object.assign(document.createElement('a'), { className: 'link', href: base + link.to, textContent: link.text }),
    )
  if (copy) {
    const copier = Object.assign(document.createElement('button'), {
      type: 'button',
      className: 'btn small',
      textContent: 'Copy',
    })
    copier.dataset.copy = copy
    made.append(Object.assign(document.createElement('code'), { textContent: copy }), copier)
  }
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
  if (isError || copy) button('Close', () => undefined)
  else setTimeout(() => made.remove(), STAY)
  box().append(made)
  if (at?.isConnected) putBeside(made, at)
}
