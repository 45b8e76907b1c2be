import { type Changes, queryWith } from '../../words/query.ts'

export const meta = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? ''

export const base = meta('base')

export const NO_RESPONSE = 'No response: the action may have taken effect. Check before you press again.'

export const isWriting = (target: EventTarget | null): boolean =>
  target instanceof Element &&
  target.closest('input:not([type=checkbox]), textarea, select, [contenteditable]') !== null

export const cookie = (name: string, value: string): void => {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store is not everywhere.
  document.cookie = `${name}=${value}; path=${base}; max-age=31536000; samesite=strict`
}

export const readCookie = (name: string): string | undefined =>
  document.cookie
    .split('; ')
    .find((part) => part.startsWith(`${name}=`))
    ?.slice(name.length + 1)

export const readZone = (): string => decodeURIComponent(readCookie('zone') ?? 'UTC')

export function made<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  members: Partial<HTMLElementTagNameMap[Tag]> = {},
  ...inside: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = Object.assign(document.createElement(tag), members)
  element.append(...inside)
  return element
}

export const button = (text: string, kind: string, onclick: (event: MouseEvent) => unknown): HTMLButtonElement =>
  made('button', { type: 'button', className: `btn ${kind}`, onclick }, text)

export const parsed = (html: string): Document => new DOMParser().parseFromString(html, 'text/html')

export async function pageAt(url: string, options: RequestInit = {}): Promise<Document> {
  const answer = await fetch(url, { headers: { accept: 'text/html' }, cache: 'no-store', ...options })
  if (!answer.ok) throw new Error(`the server returned ${answer.status}`)
  return parsed(await answer.text())
}

export const post = (url: string, body: BodyInit, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    body,
    headers: {
      accept: 'application/json',
      'x-csrf': meta('csrf'),
      'idempotency-key': crypto.randomUUID(),
      ...headers,
    },
  })

export const onClick = (selector: string, then: (found: HTMLElement, event: MouseEvent) => unknown): void =>
  document.addEventListener('click', (event) => {
    const found = event.target instanceof Element && event.target.closest<HTMLElement>(selector)
    if (found) then(found, event)
  })

/** A bold link is the main link of its row. */
export const mainLink = (row: Element | undefined): HTMLAnchorElement | null | undefined =>
  row?.querySelector<HTMLAnchorElement>('a:has(> b)') ?? row?.querySelector('a')

export function openLink(link: HTMLAnchorElement | null | undefined, inNewTab: boolean): void {
  if (link) inNewTab ? window.open(link.href, '_blank', 'noopener') : location.assign(link.href)
}

/** Calls `then` at the first input after a pause of `ms`. Returns a function that measures the current pause. */
export function watchIdle(ms: number, then: () => void): () => number {
  let moved = Date.now()
  const idle = (): number => Date.now() - moved
  for (const name of ['pointermove', 'keydown', 'scroll'] as const)
    addEventListener(
      name,
      () => {
        const wasIdle = idle() > ms
        moved = Date.now()
        if (wasIdle) then()
      },
      { passive: true },
    )
  return idle
}

export const addressWith = (changes: Changes): string =>
  location.pathname + queryWith(location.search, changes) + location.hash

export const putInUrl = (changes: Changes): void => history.replaceState(history.state, '', addressWith(changes))

export const here = (): string => location.pathname.slice(base.length) + location.search

export const loginPath = (why: 'again' | 'ended'): string => `/login?${why}=1&to=${encodeURIComponent(here())}`

export const logIn = (): void => location.assign(base + loginPath('ended'))

export const opensNewTab = ({ ctrlKey, metaKey, shiftKey }: MouseEvent): boolean => ctrlKey || metaKey || shiftKey

export const emit = (name: string, detail?: unknown): void =>
  void document.dispatchEvent(new CustomEvent(name, { detail }))

export const onEvent = (name: string, then: (detail: unknown) => void): void =>
  document.addEventListener(name, (event) => then((event as CustomEvent).detail))
