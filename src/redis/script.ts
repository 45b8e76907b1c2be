// Calls of scripts by sha with named arguments, and the source places of their lines.

/** A built script. `args` are the names of its first arguments in order. */
export type Script<Args> = {
  name: string
  sha: string
  args: (keyof Args & string)[]
  text: string
  /** Source places: for each part the file, the first line, and the step from each line to the next. */
  lines: string
}

/** Evaluates scripts: the client of client.ts, or a connection of a test. */
export type Evaluate = <Args>(script: Script<Args>, keys: string[], args: Args, rest: string[]) => Promise<unknown>

export const argumentsOf = <Args>(script: Script<Args>, args: Args, rest: string[]): string[] => [
  ...script.args.map((name) => String(args[name])),
  ...rest,
]

/** Lines from one file, or from the builder. */
export type Piece = { text: string; file?: string; lines?: string }

/** Selects parts of a module: `0-3 5`. */
export const picked = (pieces: readonly { text: string; lines: string }[], module: string, places: string): Piece[] =>
  places.split(' ').flatMap((run) => {
    const [from, to = from] = run.split('-').map(Number)
    return pieces.slice(from, to! + 1).map((piece) => ({ file: `lib/${module}.lua`, ...piece }))
  })

const linesOf = ({ text, file = '', lines = `1 ${'0'.repeat(text.split('\n').length - 2)}` }: Piece): string =>
  `${file} ${lines}`

export function made<Args>({
  pieces,
  ...script
}: Omit<Script<Args>, 'text' | 'lines'> & { pieces: Piece[] }): Script<Args> {
  return {
    ...script,
    get text() {
      return pieces.map(({ text }) => text).join('')
    },
    get lines() {
      return pieces.map(linesOf).join('\n')
    },
  }
}

/** Returns undefined for lines of the builder. */
function placeOf(script: Pick<Script<never>, 'lines'>, line: number): string | undefined {
  let left = line - 1
  for (const piece of script.lines.split('\n')) {
    const [file, first, steps = ''] = piece.split(' ')
    if (left <= steps.length) {
      const at = [...steps.slice(0, left)].reduce((sum, step) => sum + Number.parseInt(step, 36), Number(first))
      return file ? `${file}:${at}` : undefined
    }
    left -= steps.length + 1
  }
  return undefined
}

/**
 * Replaces script lines in an error by places in the sources.
 *
 * @example inSources('user_script:212: attempt to …', commit) // 'lib/job/places.lua:74: attempt to …'
 */
export const inSources = (text: string, script: Pick<Script<never>, 'name' | 'lines'>): string =>
  text.replace(/@?(?:user_script|<string>):(\d+)/g, (_, line: string) => placeOf(script, Number(line)) ?? script.name)
