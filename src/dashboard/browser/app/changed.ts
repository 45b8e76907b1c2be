// A row that is another way than before is seen to have changed: it has the pale ground of its new status for a moment, where
// motion is wanted. One that has no status any more, or has its first, is another way, too.

const SHOWN = 1_000

const ROWS = 'tr, li, .sch'

/** `marks`: the statuses that stand in a row; `parts`: what is drawn as the row, one beside the other. */
type Row = { marks: HTMLElement[]; parts: HTMLElement[] }

/** A row of a table or a list is one element; a schedule is as many as its grid has columns. */
function partsOf(row: HTMLElement): HTMLElement[] {
  const parts = [row]
  if (!row.matches('.sch')) return parts
  for (let next = row.nextElementSibling; next instanceof HTMLElement; next = next.nextElementSibling) {
    if (next.matches('.sch')) break
    parts.push(next)
  }
  return parts
}

/** The first status of a row, and of a schedule all: whether it failed, and whether it is paused. */
function marksIn(row: HTMLElement, parts: readonly HTMLElement[]): HTMLElement[] {
  const found = parts.flatMap((part) => [...part.querySelectorAll<HTMLElement>('.st')])
  if (parts.length > 1) return found
  return found.filter((mark) => mark.closest(ROWS) === row).slice(0, 1)
}

/** What a row is about, by its first link; of several about the same one that has a status. */
function rows(): Map<string, Row> {
  const found = new Map<string, Row>()
  for (const row of document.querySelectorAll<HTMLElement>(`#main :is(${ROWS})`)) {
    const about = row.querySelector('a')?.getAttribute('href')
    if (!about || found.get(about)?.marks.length) continue
    const parts = partsOf(row)
    found.set(about, { marks: marksIn(row, parts), parts })
  }
  return found
}

const namesOf = ({ marks }: Row): string[] => marks.map(({ className }) => className)

/** The ground of a status that was not there before; a plain one where statuses have only gone. */
function groundOf({ marks }: Row, was: readonly string[]): string {
  const mark = marks.find(({ className }) => !was.includes(className))
  const [of, name] = mark ? [mark, '--b'] : [document.documentElement, '--queued-bg']
  return getComputedStyle(of).getPropertyValue(name) || 'transparent'
}

/** How rows are now; what is answered shows those that are another way by then. */
export function watchRows(): () => void {
  const before = new Map([...rows()].map(([about, row]) => [about, namesOf(row)]))
  return () => {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
    for (const [about, row] of rows()) {
      const was = before.get(about)
      if (was === undefined || was.join() === namesOf(row).join()) continue
      const ground = groundOf(row, was)
      for (const part of row.parts) part.animate({ backgroundColor: [ground, ground, 'transparent'] }, SHOWN)
    }
  }
}
