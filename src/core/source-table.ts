export type SourceTable = {
  /** Name of the file in stack frames, such as `worker.js`. */
  bundle: string
  files: { name: string; lines: string[] }[]
  /** All numbers count from 0. The file -1 is library code. */
  places: [line: number, column: number, file: number, ownLine: number, ownColumn: number][]
}

const AROUND = 2
const LONGEST_LINE = 160

const FRAME = /^(\s*at )(?:(.*) \()?(?:[^()\s]*\/)?([\w.-]+\.m?js):(\d+):(\d+)\)?$/

function placeAt({ places }: SourceTable, line: number, column: number): SourceTable['places'][number] | undefined {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const [ofLine, ofColumn] = places[middle]!
    if (ofLine < line || (ofLine === line && ofColumn <= column)) low = middle + 1
    else high = middle
  }
  const found = places[low - 1]
  return found?.[0] === line && found[2] >= 0 ? found : undefined
}

function sourceAt(lines: readonly string[], at: number): string[] {
  const from = Math.max(0, at - AROUND)
  const width = String(at + AROUND + 1).length
  return lines.slice(from, at + AROUND + 1).map((text, i) => {
    const mark = from + i === at ? '>' : ' '
    return `    ${mark} ${String(from + i + 1).padStart(width)} | ${text.slice(0, LONGEST_LINE)}`.trimEnd()
  })
}

/** Adds five source lines below the first frame of the user's code. */
export function mappedStack(stack: string, table: SourceTable): string {
  let isFirst = true
  const lines = stack.split('\n').flatMap((line) => {
    const [, at, name, bundle, row, column] = FRAME.exec(line) ?? []
    if (at === undefined || bundle !== table.bundle) return [line]
    const place = placeAt(table, Number(row) - 1, Number(column) - 1)
    if (!place) return [`${at}${name ? `${name} ` : ''}(library:${row}:${column})`]
    const [, , index, ownLine, ownColumn] = place
    const file = table.files[index]!
    const where = `${file.name}:${ownLine + 1}:${ownColumn + 1}`
    const frame = name ? `${at}${name} (${where})` : `${at}${where}`
    if (!isFirst) return [frame]
    isFirst = false
    return [frame, ...sourceAt(file.lines, ownLine)]
  })
  return lines.join('\n')
}
