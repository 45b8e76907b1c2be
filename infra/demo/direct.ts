import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { pathOf, type Text } from './texts.ts'

const program = fileURLToPath(new URL('direct.mjs', import.meta.url))

export async function directCount(texts: Text[]): Promise<Map<string, number>> {
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(texts.map(pathOf)))
  return new Map(JSON.parse(await text(child.stdout)))
}

export function differences(total: Record<string, number>, direct: Map<string, number>): string[] {
  const words = new Set([...Object.keys(total), ...direct.keys()])
  return [...words].filter((word) => total[word] !== direct.get(word))
}
