import { button, made } from './page.ts'

type DialogOptions = {
  kind?: string
  label?: string
  from?: Element | null
  /** A click outside of the dialog closes it. */
  isLight?: boolean
}

export const closeButton = (): HTMLButtonElement =>
  button('Close', '', ({ target }) => (target as Element).closest('dialog')!.close())

export function openDialog(inside: readonly Node[], { kind = '', label, from, isLight }: DialogOptions) {
  const dialog = made('dialog', { className: `dialog ${kind}`.trim(), ariaLabel: label ?? null })
  dialog.append(...inside)
  dialog.addEventListener('close', () => {
    dialog.remove()
    if (from instanceof HTMLElement) from.focus()
  })
  if (isLight) dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close())
  document.body.append(dialog)
  dialog.showModal()
  return dialog
}
