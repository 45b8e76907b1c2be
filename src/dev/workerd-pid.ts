import { readFileSync } from 'node:fs'

export function workerdBelow(parent: number): number | undefined {
  try {
    const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ')
    return children.map(Number).find((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'workerd')
  } catch {
    return undefined
  }
}
