// Runs commands in this process, because a separate process takes a third of a second of CPU time.

import { createIo, talking } from '../../../src/cli/io.ts'
import { main } from '../../../src/cli/main.ts'

export async function runInProcess(words: string[], lines: string[] = []) {
  let printed = ''
  let noted = ''
  const exit = await main(words, (json) => {
    const io = createIo(json)
    const print = (line: string) => void (printed += `${line}\n`)
    const note = (line: string) => void (noted += `${line}\n`)
    async function* given() {
      yield* lines.splice(0)
    }
    return { ...io, print, note, progress() {}, lines: given, ...talking(json, print, note) }
  })
  return { exit, printed, noted }
}
