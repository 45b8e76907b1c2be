// Facts of the current page, for scripts.

export const meta = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? ''

export const base = meta('base')

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

export const made = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  members: Partial<HTMLElementTagNameMap[Tag]> = {},
): HTMLElementTagNameMap[Tag] => Object.assign(document.createElement(tag), members)

/** Parts of the page tell each other what happened by events of the document. */
export const tell = (name: string, detail?: unknown): void =>
  void document.dispatchEvent(new CustomEvent(name, { detail }))

export const hear = (name: string, then: (detail: unknown) => void): void =>
  document.addEventListener(name, (event) => then((event as CustomEvent).detail))
