// Maps places of a bundle to the project's files.

import { SourceMap } from 'node:module'
import { relative, resolve } from 'node:path'

export type Place = { file: string; line: number }
export type Locate = (line: number, column: number) => Place | undefined

/**
 * Reads a source map in `dir`. Files are relative to the project's folder.
 *
 * @example readMap(text, '.sidejob/worker', '.')(120, 7) // { file: 'src/jobs/double.ts', line: 7 }
 */
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

/** A frame with a file of the project, relative to its folder. */
const MAPPED = /^\s*at (?:.* \()?((?:[\w.-]+\/)*[\w.-]+\.[cm]?[jt]sx?):(\d+):\d+\)?$/m

const isOwn = ({ file }: Place) => !file.includes('node_modules') && !file.startsWith('..')

export function ownPlace(stack: string, locate: Locate): Place | undefined {
  for (const [, line, column] of stack.matchAll(FRAME)) {
    const place = locate(Number(line), Number(column))
    if (place && isOwn(place)) return place
  }
  // The engine has already mapped it.
  const [, file, line] = MAPPED.exec(stack) ?? []
  return file === undefined ? undefined : { file, line: Number(line) }
}

/**
 * The place of a class definition: `class: "double"` in the bundle, as esbuild writes it.
 *
 * @example classPlace(bundle, 'double', locate) // { file: 'src/jobs/double.ts', line: 6 }
 */
export function classPlace(bundle: string, name: string, locate: Locate): Place | undefined {
  const index = bundle.search(new RegExp(`\\bclass: ${JSON.stringify(name).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`))
  if (index < 0) return undefined
  const before = bundle.slice(0, index).split('\n')
  return locate(before.length, before.at(-1)!.length + 1)
}
