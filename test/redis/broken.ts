import { buildScripts } from '../../infra/lua-build/index.ts'
import { SidejobError } from '../../src/core/errors.ts'
import type { Client } from '../../src/redis/client.ts'
import { createWorld, type Scripts, type Way, type World } from './direct.ts'

export type Fault = {
  /** Relative to src/redis/lua. */
  file: string
  /** Text that must occur exactly once in the file. */
  find: string
  replace: string
  says: string
}

/** Any white space matches a line break. An indented `find` must begin a line of the script. */
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

/** A crash of a changed script does not count, because it does not prove that the test detects the change. */
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
