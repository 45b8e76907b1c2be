import type { Done } from '../../page.ts'
import { closeButton, openDialog } from './dialog.ts'
import { clearFaults, showFault, startFaults } from './faults.ts'
import { base, button, emit, here, logIn, made, NO_RESPONSE, onClick, onEvent, post } from './page.ts'
import { toast } from './toasts.ts'

type Refused = { code: string; message: string; path?: (string | number)[] }

type Answer = Partial<Done> & { confirm?: string; error?: Refused }

async function send(url: string, form: FormData): Promise<Answer> {
  const answer = await post(url, form)
  const text = await answer.text()
  try {
    return JSON.parse(text) as Answer
  } catch {
    return { error: { code: String(answer.status), message: 'The server sent an unexpected response' } }
  }
}

function fill(dialog: HTMLDialogElement, html: string): void {
  dialog.innerHTML = html
  const title = dialog.querySelector('h2')
  if (title) {
    title.id = 'asked'
    dialog.setAttribute('aria-labelledby', 'asked')
  }
  const first = dialog.querySelector<HTMLElement>('input:not([type=hidden]), button[type=submit]')
  ;(first ?? dialog.querySelector<HTMLElement>('[data-do="close"]'))?.focus()
  const form = dialog.querySelector<HTMLFormElement>('form[data-counting]')
  // Wait until the dialog is drawn, then submit again.
  if (form) setTimeout(() => dialog.open && form.requestSubmit())
}

function showError({ message, path }: Omit<Refused, 'code'>, at: HTMLFormElement, pressed: HTMLElement | null): void {
  if (showFault(at, message, path)) return
  const dialog = at.closest('dialog')
  if (!dialog) {
    toast({ say: message, isError: true, at: pressed ?? at })
    return
  }
  dialog.querySelector('.err')?.remove()
  at.append(made('p', { className: 'err', role: 'alert' }, message))
}

async function copySecret(box: HTMLElement): Promise<string> {
  try {
    await navigator.clipboard.writeText(box.textContent!)
    return 'Copied'
  } catch {
    getSelection()!.selectAllChildren(box)
    return 'Selected: copy it manually'
  }
}

function showSecret(say: string, secret: string): void {
  const [title, box] = [made('h2', {}, say), made('pre', {}, secret)]
  const copier = button('Copy', 'primary', async () => {
    copier.textContent = await copySecret(box)
    closer.disabled = false
  })
  const closer = closeButton()
  closer.disabled = true
  const row = made('div', { className: 'row end' }, copier, closer)
  const dialog = openDialog([made('div', { className: 'ask' }, title, box, row)], { label: say })
  const stay = (event: Event): void => {
    if (closer.disabled) event.preventDefault()
  }
  dialog.addEventListener('cancel', stay)
  // Browsers close a dialog at the second Escape, even if the page prevented the first.
  dialog.addEventListener('keydown', (event) => event.key === 'Escape' && stay(event))
  addEventListener('beforeunload', stay)
  dialog.addEventListener('close', () => removeEventListener('beforeunload', stay))
}

async function settle(answer: Answer, form: HTMLFormElement, pressed: HTMLElement | null): Promise<void> {
  if (answer.error?.code === 'UNAUTHENTICATED') return logIn()
  if (answer.error) return showError(answer.error, form, pressed)
  const url = form.action
  const dialog = form.closest('dialog')
  if (answer.confirm) {
    // The dialog may have been closed while the answer was awaited.
    if (dialog?.open !== false) fill(dialog ?? openDialog([], { from: document.activeElement }), answer.confirm)
    return
  }
  dialog?.close()
  form.closest('details.more')?.removeAttribute('open')
  const { say = 'Done', link, undo, secret } = answer
  if (secret) showSecret(say, secret)
  else toast({ say, link, ...(undo ? { undo: () => void act(url, undo) } : {}) })
  // Refreshes keep fields that the user has changed, so reset them.
  if (form.dataset.keeps === undefined) form.reset()
  emit('acted', form.dataset.act)
  if (answer.to && answer.to !== here()) {
    // Without a focused field, letters are shortcuts again.
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    emit('go', base + answer.to)
  } else emit('look')
}

async function act(url: string, fields: Record<string, string>): Promise<void> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  const answer = await send(url, form)
  toast({ say: answer.error?.message ?? answer.say ?? 'Undone', isError: answer.error !== undefined })
  emit('look')
}

async function submit(form: HTMLFormElement, submitter: HTMLElement | null): Promise<void> {
  if (form.ariaBusy === 'true') return
  form.ariaBusy = 'true'
  clearFaults(form)
  submitter?.classList.add('busy')
  try {
    await settle(await send(form.action, new FormData(form, submitter)), form, submitter)
  } catch {
    showError({ message: NO_RESPONSE }, form, submitter)
  } finally {
    form.ariaBusy = null
    submitter?.classList.remove('busy')
  }
}

export function startForms(): void {
  startFaults()
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    if (form.dataset.act === undefined || form.method !== 'post') return
    event.preventDefault()
    void submit(form, event.submitter)
  })
  onClick('dialog [data-do="close"]', (closer, event) => {
    event.preventDefault()
    closer.closest('dialog')!.close()
  })
  onClick('[data-copy]', copy)
  document.addEventListener('click', ({ target }) => {
    for (const menu of document.querySelectorAll('details.more[open]'))
      if (!menu.contains(target as Element)) menu.removeAttribute('open')
  })
  onEvent('say', (detail) => toast(detail as Parameters<typeof toast>[0]))
}

function lineOf(button: HTMLElement): string | undefined {
  const line = button.closest('.log li')
  if (!line) return undefined
  const said = [...line.querySelectorAll(':scope > span')].map(({ textContent }) => textContent)
  return [line.querySelector('time')!.title, ...said].join(' ').replace(/\s+/g, ' ').trim()
}

async function copy(button: HTMLElement): Promise<void> {
  const text = button.dataset.copy || lineOf(button) || button.closest('.snip')?.querySelector('pre')?.textContent || ''
  await navigator.clipboard.writeText(text)
  toast({ say: 'Copied' })
}
