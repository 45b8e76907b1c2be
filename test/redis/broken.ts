// Builds scripts with one part removed or changed. A fact about this part must then fail.

import { buildScripts } from '../../infra/lua-build/index.ts'
import { SidejobError } from '../../src/core/errors.ts'
import type { Client } from '../../src/redis/client.ts'
import { createWorld, type Scripts, type Way, type World } from './direct.ts'

export type Fault = {
  /** Below src/redis/lua. */
  file: string
  /** Occurs once in the file. */
  find: string
  replace: string
  says: string
}

/** Matches with any line breaks. An indented fragment must begin a line. */
const patternOf = ({ find }: Fault): RegExp => {
  const words = find
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\-]/g, '\\$&'))
    .join('\\s+')
  return new RegExp(`${find.startsWith('  ') ? '(?<=^ *)' : find.startsWith(' ') ? '(?<=\\s)' : ''}${words}`, 'gm')
}

/** Reads the scripts once, so that edits during a test run have no effect. */
export function readScripts() {
  const sources = new Map<string, string>()
  const { scripts: unchanged } = buildScripts((file, text) => {
    sources.set(file, text)
    return text
  })

  return {
    unchanged,
    occurrences: (fault: Fault): number => [...sources.get(fault.file)!.matchAll(patternOf(fault))].length,
    with: (fault: Fault): Scripts =>
      buildScripts((path) =>
        path === fault.file ? sources.get(path)!.replace(patternOf(fault), () => fault.replace) : sources.get(path)!,
      ).scripts,
  }
}

/** False if a script crashed: a crash does not prove that the fact detected the change. */
const isFinding = (error: unknown): boolean =>
  (error instanceof Error && error.name === 'AssertionError') ||
  (error instanceof SidejobError && error.code !== 'UNAVAILABLE')

export async function isNoticed(
  fact: (world: World) => Promise<void>,
  client: Client,
  scripts: Scripts,
  way?: Way,
): Promise<boolean> {
  const world = await createWorld(client, scripts, way)
  try {
    await fact(world)
    return (await world.faults()).length > 0
  } catch (error) {
    return isFinding(error)
  }
}
