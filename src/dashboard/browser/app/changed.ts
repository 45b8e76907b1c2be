const SHOWN = 1_000

type Row = { marks: HTMLElement[]; parts: HTMLElement[] }

const COLUMNS = 4

function rowOf(row: HTMLElement): Row {
  const parts = [row]
  if (row.matches('.sch')) while (parts.length < COLUMNS) parts.push(parts.at(-1)!.nextElementSibling as HTMLElement)
  const marks = parts.flatMap((part) => [...part.querySelectorAll<HTMLElement>('.st')])
  return { parts, marks: parts[1] ? marks : marks.slice(0, 1) }
}

function rows(): Map<string, Row> {
  const found = new Map<string, Row>()
  for (const row of document.querySelectorAll<HTMLElement>('#main :is(tr, li, .sch)')) {
    const about = row.querySelector('a')?.getAttribute('href')
    if (about && !found.get(about)?.marks[0]) found.set(about, rowOf(row))
  }
  return found
}

const namesOf = ({ marks }: Row): string => marks.map(({ className }) => className).join()

function groundOf({ marks }: Row, was: string): string {
  const mark = marks.find(({ className }) => !was.includes(className))
  return (mark && getComputedStyle(mark).getPropertyValue('--b')) || 'var(--queued-bg)'
}

export function watchRows(): () => void {
  const before = new Map([...rows()].map(([about, row]) => [about, namesOf(row)]))
  return () => {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
    for (const [about, row] of rows()) {
      const was = before.get(about) ?? namesOf(row)
      if (was === namesOf(row)) continue
      const ground = groundOf(row, was)
      for (const part of row.parts) part.animate({ backgroundColor: [ground, ground, 'transparent'] }, SHOWN)
    }
  }
}
