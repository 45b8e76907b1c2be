export const atMost = (most: number, what: string): [(map: object) => boolean, string] => [
  (map) => Object.keys(map).length <= most,
  `expected at most ${most.toLocaleString('en')} ${what}`,
]
