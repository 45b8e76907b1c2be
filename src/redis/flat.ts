// Redis returns a flat list: name, value, name, value.

export const pairsOf = (flat: readonly unknown[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [String(flat[2 * i]), String(flat[2 * i + 1])])

export const fieldsOf = (flat: readonly unknown[]): Record<string, string> => Object.fromEntries(pairsOf(flat))
