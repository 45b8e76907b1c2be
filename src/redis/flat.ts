// Flat lists of Redis for hashes and stream entries: name, value, name, value.

/**
 * @example
 * pairsOf(['at', 12, 'job', '7']) // [['at', '12'], ['job', '7']]
 */
export const pairsOf = (flat: readonly unknown[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [String(flat[2 * i]), String(flat[2 * i + 1])])

/** @example fieldsOf(['at', 12, 'job', '7']) // { at: '12', job: '7' } */
export const fieldsOf = (flat: readonly unknown[]): Record<string, string> => Object.fromEntries(pairsOf(flat))
