import { SourceMap } from 'node:module'
import { relative, resolve } from 'node:path'

type Place = { file: string; line: number }
export type Locate = (line: number, column: number) => Place | undefined

export function readMap(text: string, dir: string, root: string): Locate {
  if (!text) return () => undefined
  const map = new SourceMap(JSON.parse(text))
  return (line, column) => {
    const found = map.findEntry(line - 1, column - 1)
    if (!('originalSource' in found) || !found.originalSource) return undefined
    return { file: relative(root, resolve(dir, found.originalSource)), line: found.originalLine + 1 }
  }
}

const FRAME = /\(?(?:file:\/\/)?[^\s()]*worker\.js:(\d+):(\d+)\)?/g

export const located = (text: string, locate: Locate): string =>
  text.replace(FRAME, (frame, line: string, column: string) => {
    const place = locate(Number(line), Number(column))
    if (!place) return frame
    return frame.startsWith('(') ? `(${place.file}:${place.line})` : `${place.file}:${place.line}`
  })

const MAPPED = /^\s*at (?:.* \()?((?:[\w.-]+\/)*[\w.-]+\.[cm]?[jt]sx?):(\d+):\d+\)?$/m

const isOwn = ({ file }: Place) => !file.includes('node_modules') && !file.startsWith('..')

export function ownPlace(stack: string, locate: Locate): Place | undefined {
  for (const [, line, column] of stack.matchAll(FRAME)) {
    const place = locate(Number(line), Number(column))
    if (place && isOwn(place)) return place
  }
  // If no frame is in the bundle, the engine has already mapped this stack.
  const [, file, line] = MAPPED.exec(stack) ?? []
  return file === undefined ? undefined : { file, line: Number(line) }
}

export function classPlace(bundle: string, name: string, locate: Locate): Place | undefined {
  const index = bundle.search(new RegExp(`\\bclass: ${JSON.stringify(name).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`))
  if (index < 0) return undefined
  const before = bundle.slice(0, index).split('\n')
  return locate(before.length, before.at(-1)!.length + 1)
}
