// Refreshes a page. Keeps the user's input and the elements that scripts have drawn.

import { Idiomorph } from 'idiomorph'
import { watchRows } from './changed.ts'
import { holdBack, showHeld } from './list.ts'
import { emit, isWriting, parsed } from './page.ts'
import { updateTimes } from './times.ts'

const keepsOwn = (name: string, node: Node): boolean =>
  !(name === 'open' && node instanceof HTMLDetailsElement) && !(name === 'checked' && node instanceof HTMLInputElement)

const isChanged = ({ options, value }: HTMLSelectElement): boolean =>
  value !== ([...options].find(({ defaultSelected }) => defaultSelected) ?? options[0])?.value

const isWritten = (node: Node): boolean =>
  isWriting(node) &&
  (node === document.activeElement ||
    (node instanceof HTMLSelectElement && isChanged(node)) ||
    ((node instanceof HTMLInputElement || node instanceof HTMLTextAreaElement) && node.value !== node.defaultValue))

/**
 * Keeps elements with `data-island`, because scripts draw their content. This content must not have ids, because
 * Idiomorph would move an element with an id.
 */
const keepsTime = (old: Node, fresh: Node): boolean =>
  !(old instanceof HTMLElement && old.dataset.island !== undefined) &&
  !isWritten(old) &&
  !(old instanceof HTMLInputElement && fresh instanceof HTMLInputElement && old.type === 'checkbox')

const keepsErrors = (node: Node): boolean => !(node instanceof Element && node.matches('#fault, .gone'))

const callbacks = {
  beforeAttributeUpdated: keepsOwn,
  beforeNodeMorphed: keepsTime,
  beforeNodeRemoved: keepsErrors,
}

/** Lets the browser draw and handle input between steps. */
const breath = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

function swap(next: Document, id: string): void {
  const [old, fresh] = [document.getElementById(id), next.getElementById(id)]
  // Morphs the children only, because scripts set attributes on the element itself.
  if (old && fresh) Idiomorph.morph(old, [...fresh.childNodes], { morphStyle: 'innerHTML', callbacks })
}

/** Removes hashes from the names, because a deploy must not reload an open page. */
const assetsOf = (page: Document): string =>
  [...page.head.querySelectorAll('link[rel=stylesheet], script')]
    .map((one) => (one.getAttribute('href') ?? one.getAttribute('src'))?.replace(/-\w+\.(?=\w+$)/, '.'))
    .join()

export async function take(html: string, whole = true): Promise<void> {
  const next = parsed(html)
  if (whole && assetsOf(next) !== assetsOf(document)) return location.reload()
  // The server sends only changed chunks, so the times in all other chunks are old.
  updateTimes(next)
  await breath()
  const held = whole ? 0 : holdBack(next)
  const showChanged = watchRows()
  emit('drawing')
  swap(next, 'main')
  showChanged()
  showHeld(held)
  document.title = next.title
  await breath()
  swap(next, 'side')
  if (whole) swap(next, 'top')
  emit('drawn')
}

export function takeParts(parts: Record<string, string>): void {
  for (const [id, html] of Object.entries(parts)) {
    const old = document.getElementById(id)
    if (old) Idiomorph.morph(old, html, { callbacks })
  }
}
