// RFC 7396.

import { isObject } from './is-object.ts'

type Tree = { [member: string]: unknown }

export function patched(of: Tree, patch: Tree): Tree {
  const all = new Map(Object.entries(of))
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined) continue
    if (value === null) all.delete(name)
    else {
      const was = all.get(name)
      all.set(name, isObject(value) ? patched(isObject(was) ? was : {}, value) : value)
    }
  }
  return Object.fromEntries(all)
}

export function changedPaths(one: Tree, other: Tree, above = ''): string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].flatMap((name) => {
    const [a, b] = [one, other].map((of) => (Object.hasOwn(of, name) ? of[name] : undefined))
    if (isObject(a) && isObject(b)) return changedPaths(a, b, `${above}${name}.`)
    return JSON.stringify(a) === JSON.stringify(b) ? [] : [`${above}${name}`]
  })
}
