export type Measured = { what: string; value: string; goal: string; met: boolean }

export type Sizes = Record<string, number>

export type Show = {
  title: string
  sizes: Sizes
  run: (sizes?: Partial<Sizes>, say?: (line: string) => void) => Promise<Measured[]>
}

type Definition<S extends Sizes> = {
  title: string
  sizes: S
  run: (sizes: S, say: (line: string) => void) => Promise<Measured[]>
}

export const defineShow = <S extends Sizes>({ title, sizes, run }: Definition<S>): Show => ({
  title,
  sizes,
  run: (given = {}, say = () => {}) => run({ ...sizes, ...given } as S, say),
})

const shown = (n: number): string => (Number.isInteger(n) ? n.toLocaleString('en') : n.toFixed(2))

export const atMost = (what: string, value: number, most: number, unit = ''): Measured => ({
  what,
  value: shown(value) + unit,
  goal: `≤ ${shown(most)}${unit}`,
  met: value <= most,
})
export const atLeast = (what: string, value: number, least: number, unit = ''): Measured => ({
  what,
  value: shown(value) + unit,
  goal: `≥ ${shown(least)}${unit}`,
  met: value >= least,
})
export const exactly = (what: string, value: number, wanted: number): Measured => ({
  what,
  value: shown(value),
  goal: shown(wanted),
  met: value === wanted,
})
export const told = (what: string, value: number, unit = ''): Measured => ({
  what,
  value: shown(value) + unit,
  goal: '',
  met: true,
})

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function tableOf(rows: readonly Measured[]): string[] {
  const width = (of: (row: Measured) => string) => Math.max(...rows.map((row) => of(row).length))
  const [first, second] = [width(({ what }) => what), width(({ value }) => value)]
  return rows.map(({ what, value, goal, met }) =>
    `  ${what.padEnd(first)}  ${value.padStart(second)}${goal && `  (goal ${goal}${met ? '' : ', MISSED'})`}`.trimEnd(),
  )
}
