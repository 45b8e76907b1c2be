import { made } from './page.ts'

type Input = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

const isInput = (one: Element): one is Input => one.matches('input:not([type=hidden]), textarea, select')

const isMeant = ({ name, dataset }: Input, step: string): boolean =>
  name === step || name === `in.${step}` || dataset.path === '*' || (dataset.path?.split(' ').includes(step) ?? false)

const fitOf = ({ name, value }: Input, steps: readonly string[]): number =>
  name.split(/[./]/).filter((part) => steps.includes(part === 'in' ? 'inputs' : part)).length + (value ? 0.5 : 0)

function stepsOf(message: string, path?: readonly (string | number)[]): string[] {
  const said = /^([\w.[\]-]+):/.exec(message)?.[1]?.split(/[.[\]]+/) ?? []
  return (path ?? said).map(String).filter(Boolean).reverse()
}

function fieldOf(form: HTMLFormElement, message: string, path?: readonly (string | number)[]): Input | undefined {
  const inputs = [...form.elements].filter(isInput)
  const steps = stepsOf(message, path)
  for (const step of steps) {
    const meant = inputs.filter((input) => isMeant(input, step))
    if (meant[0]) return meant.sort((a, b) => fitOf(b, steps) - fitOf(a, steps))[0]
  }
  // Some errors begin with a field and its value, such as `class nope is not registered`.
  return inputs.find(({ name, value }) => value && message.startsWith(`${name} ${value} `))
}

/** The text appears under the field, so it need not begin with the name of the field. */
function withoutName(input: Input, message: string): string {
  const [name = ''] = message.split(': ', 1)
  const [step = ''] = stepsOf(message)
  const isOwn = input.dataset.path !== '*' && isMeant(input, step)
  const label = input.closest('label')?.textContent ?? ''
  return isOwn || label.startsWith(name) ? message.slice(name.length + 2) : message
}

function clear(input: Input): void {
  if (!input.ariaInvalid) return
  input.ariaInvalid = null
  document.getElementById(input.getAttribute('aria-describedby') ?? '')?.remove()
  input.removeAttribute('aria-describedby')
}

export const clearFaults = (form: HTMLFormElement): void => void [...form.elements].filter(isInput).forEach(clear)

export function showFault(form: HTMLFormElement, message: string, path?: readonly (string | number)[]): boolean {
  const input = fieldOf(form, message, path)
  if (!input) return false
  const said = made('span', { className: 'err', id: 'fault', role: 'alert' }, withoutName(input, message))
  input.ariaInvalid = 'true'
  input.setAttribute('aria-describedby', said.id)
  for (let box = input.closest('details'); box; box = box.parentElement!.closest('details')) box.open = true
  ;(input.closest('fieldset:not(.parts)') ?? input.closest('label') ?? input).append(said)
  input.focus()
  return true
}

export function startFaults(): void {
  document.addEventListener('input', ({ target }) => target instanceof Element && isInput(target) && clear(target))
}
