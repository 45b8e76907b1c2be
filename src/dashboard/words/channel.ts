import { isBelow } from '../../core/channel.ts'

function sharedPath(name: string, next = ''): string {
  let path = name
  while (path && !isBelow(next, path)) path = path.slice(0, path.lastIndexOf('/'))
  return path
}

const sortable = (path: string): string => path.replaceAll('/', '\0')

export type Branch = { name: string; label: string }

/**
 * Returns the sorted names as a tree, whose inner nodes are shared paths.
 *
 * @example branchesOf(['/shop/7', '/shop/8']) // /shop, then 7 and 8 below it
 */
export function branchesOf(names: readonly string[]): Branch[] {
  const paths = new Set(names.flatMap((name, i) => [name, sharedPath(name, names[i + 1])]))
  const above: string[] = []
  return [...paths]
    .filter(Boolean)
    .sort((a, b) => (sortable(a) < sortable(b) ? -1 : 1))
    .map((name) => {
      while (above.length > 0 && !isBelow(name, above.at(-1)!)) above.pop()
      const label = above.length > 0 ? name.slice(above.at(-1)!.length).replace(/^\//, '') : name
      above.push(name)
      return { name, label }
    })
}
