import { type Encoded, raw } from './codec/value.ts'
import { mapValues } from './map-values.ts'
import type { Places } from './schemas.ts'
import { iso } from './time.ts'

/** Times become ISO 8601, and durations become seconds. User values stay unchanged. */
export const present = (place: Places | undefined, tree: unknown): unknown => {
  if (!place || tree === null || tree === undefined) return tree
  if (place === 'closed') return raw(tree as Encoded)
  if (place === 'moment') return iso(tree as number)
  if (place === 'span') return (tree as number) / 1_000
  if (Array.isArray(tree)) return tree.map((item) => present(place.items, item))
  if (typeof tree !== 'object') return tree
  const at = (name: string) => (place.members && Object.hasOwn(place.members, name) ? place.members[name] : place.each)
  return mapValues(tree as Record<string, unknown>, (value, name) => present(at(name), value))
}
