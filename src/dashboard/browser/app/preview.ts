import { pageAt } from './page.ts'

const PAUSE = 300

let asking: AbortController | undefined

async function show(form: HTMLFormElement): Promise<void> {
  const box = document.getElementById('preview')
  if (!box) return
  const asked = new URLSearchParams()
  for (const name of form.dataset.preview!.split(' ')) asked.set(name, String(new FormData(form).get(name) ?? ''))
  const { signal } = (asking = new AbortController())
  const page = await pageAt(`${location.pathname}?${asked}`, signal)
  const typed = new FormData(form)
  box.replaceChildren(...(page.getElementById('preview')?.childNodes ?? []))
  for (const field of box.querySelectorAll<HTMLInputElement>('[name]')) field.value = typed.get(field.name) as string
}

export function startPreviews(): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  document.addEventListener('input', ({ target }) => {
    const { form, name } = target as HTMLInputElement
    if (!form?.dataset.preview?.split(' ').includes(name)) return
    clearTimeout(timer)
    asking?.abort()
    timer = setTimeout(() => void show(form).catch(() => undefined), PAUSE)
  })
}
