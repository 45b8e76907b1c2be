export const mapValues = <V, T>(from: Record<string, V>, to: (value: V, name: string) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(from).map(([name, value]) => [name, to(value, name)]))
