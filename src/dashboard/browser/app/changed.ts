// A row whose status changed is seen to have changed: it has the pale ground of its new status for a moment, where motion is
// wanted.

const SHOWN = 1_000

/** What a row is about, and its status: by its first link, and the first status in it. */
function statuses(): Map<string, HTMLElement> {
  const found = new Map<string, HTMLElement>()
  for (const status of document.querySelectorAll<HTMLElement>('#main :is(tr, li) .st')) {
    const about = status.closest('tr, li')!.querySelector('a')?.getAttribute('href')
    if (about && !found.has(about)) found.set(about, status)
  }
  return found
}

/** How rows are now; what is answered shows those that are another way by then. */
export function watchRows(): () => void {
  const before = new Map([...statuses()].map(([about, { className }]) => [about, className]))
  return () => {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
    for (const [about, status] of statuses()) {
      const was = before.get(about)
      if (was === undefined || was === status.className) continue
      const ground = getComputedStyle(status).getPropertyValue('--b') || 'transparent'
      status.closest('tr, li')!.animate({ backgroundColor: [ground, ground, 'transparent'] }, SHOWN)
    }
  }
}
