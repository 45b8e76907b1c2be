import { base, button, made } from './page.ts'

type Toast = {
  say: string
  link?: { text: string; to: string }
  isError?: boolean
  undo?: () => void
  at?: Element | null
}

const toasts = (): HTMLElement => document.getElementById('toasts')!

const STAY = 10_000

/** Pixels: width of a toast next to a button, space around a toast, and maximum width of a phone. */
const [WIDE, FREE, PHONE] = [340, 8, 760]

function placeNear(made: HTMLElement, at: Element): void {
  const { left, bottom, width } = at.getBoundingClientRect()
  made.classList.add('at')
  made.style.left = `${Math.max(FREE, Math.min(left, innerWidth - WIDE - FREE))}px`
  made.style.top = `${bottom + FREE}px`
  const hasRoom = width > 0 && made.getBoundingClientRect().bottom <= innerHeight && innerWidth >= PHONE
  const back = (): void => {
    made.classList.remove('at')
    made.removeAttribute('style')
  }
  if (!hasRoom) back()
  else for (const moved of ['scroll', 'resize']) addEventListener(moved, back, { once: true, capture: true })
}

export function toast({ say, link, isError, undo, at }: Toast): void {
  const box = made('p', { className: isError ? 'toast bad' : 'toast', role: isError ? 'alert' : 'status' }, say)
  if (link) box.append(' ', made('a', { className: 'link', href: base + link.to }, link.text))
  const add = (text: string, act?: () => void) => {
    const added = button(text, 'small', () => {
      box.remove()
      act?.()
    })
    box.append(added)
    return added
  }
  if (undo) {
    // An older Undo would restore a state that this action has replaced.
    toasts().querySelector('.toast:has([data-hotkey])')?.remove()
    const undoes = add('Undo', undo)
    undoes.dataset.hotkey = 'u'
    undoes.append(made('kbd', { ariaHidden: 'true' }, 'u'))
  }
  add('×').ariaLabel = 'Close'
  if (!isError) setTimeout(() => box.remove(), STAY)
  toasts().append(box)
  if (at?.isConnected) placeNear(box, at)
}
