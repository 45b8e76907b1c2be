import { Buffer } from 'node:buffer'
import { brotliDecompressSync } from 'node:zlib'

export type Script<Args> = {
  name: string
  sha: string
  args: (keyof Args & string)[]
  text: string
  lines: string
}

export type Evaluate = <Args>(script: Script<Args>, keys: string[], args: Args, rest: string[]) => Promise<unknown>

export const argumentsOf = <Args>(script: Script<Args>, args: Args, rest: string[]): string[] => [
  ...script.args.map((name) => String(args[name])),
  ...rest,
]

type Text = [text: string, lines: string]

export function unpacking(packed: string): () => Text[] {
  let texts: Text[] | undefined
  return () => {
    texts ??= JSON.parse(brotliDecompressSync(Buffer.from(packed, 'base64')).toString()) as Text[]
    return texts
  }
}

export const made = <Args>(
  name: string,
  sha: string,
  args: (keyof Args & string)[],
  unpacked: () => Text,
): Script<Args> => ({
  name,
  sha,
  args,
  get text() {
    return unpacked()[0]
  },
  get lines() {
    return unpacked()[1]
  },
})

function placeOf(script: Pick<Script<never>, 'lines'>, line: number): string | undefined {
  let left = line
  for (const part of script.lines.split('\n')) {
    const [file, ...steps] = part.split(' ')
    if (left <= steps.length) {
      const at = steps.slice(0, left).reduce((sum, step) => sum + Number(step), 0)
      return file ? `${file}:${at}` : undefined
    }
    left -= steps.length
  }
  return undefined
}

export const inSources = (text: string, script: Pick<Script<never>, 'name' | 'lines'>): string =>
  text.replace(/@?(?:user_script|<string>):(\d+)/g, (_, line: string) => placeOf(script, Number(line)) ?? script.name)
