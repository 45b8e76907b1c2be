import { isInput } from './faults.ts'
import { hear, isElsewhere, onClick, tell } from './page.ts'

const ours = new Set(['csrf', 'act', 'queue', 'class', 'stay'])
/** Some servers refuse longer addresses. */
const LONGEST = 6_000

const formOf = (root: ParentNode): HTMLFormElement | null => root.querySelector('form[data-try]')

const keyOf = (form: HTMLFormElement): string => `sidejob-tried ${form.dataset.try}`

const typedIn = (form: HTMLFormElement): [string, string][] =>
  [...new FormData(form)].flatMap(([name, value]) =>
    ours.has(name) || typeof value !== 'string' || value === '' ? [] : [[name, value]],
  )

function carry(link: HTMLElement, event: MouseEvent): void {
  const form = formOf(link.closest('.card')!)
  if (!form || isElsewhere(event)) return
  const url = new URL((link as HTMLAnchorElement).href)
  for (const name of [...url.searchParams.keys()]) if (name !== 'as' && name !== 'q') url.searchParams.delete(name)
  for (const [name, value] of typedIn(form)) url.searchParams.set(name, value)
  event.preventDefault()
  if (url.href.length <= LONGEST) tell('go', url.href)
  else tell('say', { say: 'The input is too long to switch the format', isError: true })
}

function fill(form: HTMLFormElement, values: readonly [string, string][]): void {
  for (const [name, value] of values) {
    const field = form.elements.namedItem(name)
    if (field instanceof Element && isInput(field)) field.value = value
  }
}

function showFill(): void {
  const form = formOf(document)
  const button = form?.querySelector<HTMLButtonElement>('[data-fill]')
  if (!form || !button) return
  button.disabled = sessionStorage.getItem(keyOf(form)) === null
  if (!button.disabled) button.removeAttribute('title')
}

export function startTryIt(): void {
  onClick('[data-ways] a', carry)
  onClick('[data-fill]', (button) => {
    const form = button.closest('form')!
    fill(form, JSON.parse(sessionStorage.getItem(keyOf(form)) ?? '[]') as [string, string][])
  })
  // Stores the input before sending, because success empties the form.
  document.addEventListener(
    'submit',
    ({ target }) => {
      const form = target as HTMLFormElement
      if (form.dataset.try !== undefined) sessionStorage.setItem(keyOf(form), JSON.stringify(typedIn(form)))
    },
    { capture: true },
  )
  hear('acted', showFill)
  document.addEventListener('drawn', showFill)
  showFill()
}
