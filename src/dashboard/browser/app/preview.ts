import { pageAt } from './page.ts'

const PAUSE = 300

let asking: AbortController | undefined

async function show(form: HTMLFormElement): Promise<void> {
  const box = document.getElementById('preview')
  if (!box) return
  const body = new FormData(form)
  body.set('act', 'preview')
  const { signal } = (asking = new AbortController())
  const page = await pageAt(location.pathname, { method: 'POST', body, signal })
  const opened = [...box.querySelectorAll('details')].map(({ open }) => open)
  box.replaceChildren(...(page.getElementById('preview')?.childNodes ?? []))
  box.querySelectorAll('details').forEach((one, i) => {
    one.open = opened[i] ?? one.open
  })
}

export function startPreviews(): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  document.addEventListener('input', ({ target }) => {
    const { form, name } = target as HTMLInputElement
    const names = form?.dataset.preview
    if (!form || (names !== '*' && !names?.split(' ').includes(name))) return
    clearTimeout(timer)
    asking?.abort()
    timer = setTimeout(() => void show(form).catch(() => undefined), PAUSE)
  })
}
