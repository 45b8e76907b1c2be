// Maps the members of an object.

/** @example mapValues({ a: 1, b: 2 }, (n) => n * 2) // { a: 2, b: 4 } */
export const mapValues = <V, T>(from: Record<string, V>, to: (value: V, name: string) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(from).map(([name, value]) => [name, to(value, name)]))
