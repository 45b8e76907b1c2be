export type Changes = Record<string, string | number | undefined>

export function queryWith(search: string | URLSearchParams, changes: Changes): string {
  const query = new URLSearchParams(search)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') query.delete(name)
    else query.set(name, String(value))
  }
  const text = query.toString()
  return text ? `?${text}` : ''
}
