// Maps with a maximum size.

/** @example z.record(z.string(), z.int()).refine(...atMost(50, 'headers')) */
export const atMost = (most: number, what: string): [(map: object) => boolean, string] => [
  (map) => Object.keys(map).length <= most,
  `expected at most ${most.toLocaleString('en')} ${what}`,
]
