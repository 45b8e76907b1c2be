export type Script<Args, Answer extends string = string> = {
  name: string
  sha: string
  args: (keyof Args & string)[]
  answers: readonly Answer[]
  text: string
  places: readonly string[]
}

export type Evaluate = <Args>(
  script: Script<Args>,
  keys: string[],
  args: Args & Base,
  rest: string[],
) => Promise<unknown>

/** `clock`: milliseconds to add to Redis' clock. `seed`: random text for tokens and bells. */
export type Base = { ns: string; clock: string; seed: string }

export const argumentsOf = <Args>(script: Script<Args>, args: Args & Base, rest: string[]): string[] => [
  args.ns,
  args.clock,
  args.seed,
  ...script.args.map((name) => String(args[name])),
  ...rest,
]

type Text = Pick<Script<never>, 'text' | 'places'>

/**
 * Scripts share most lines, so each line is stored once. A script is a list of pairs: number of lines to skip, number
 * of lines to take.
 */
export type Packed = { lines: string; steps: (string | number)[]; runs: number[][] }

export function textsOf({ lines, steps, runs }: Packed): Text[] {
  const all = lines.split('\n')
  let place = ''
  const places = steps.map((step) => {
    place = typeof step === 'string' ? step : place.replace(/\d+$/, (line) => String(Number(line) + step))
    return place
  })
  return runs.map((run) => {
    let end = 0
    const numbers = run.flatMap((count, i) => {
      end += count
      return i % 2 ? Array.from({ length: count }, (_, n) => end - count + n) : []
    })
    return { text: numbers.map((n) => all[n]).join('\n'), places: numbers.map((n) => places[n]!) }
  })
}

export const made = <Args, Answer extends string>(
  name: string,
  sha: string,
  args: (keyof Args & string)[],
  answers: readonly Answer[],
  unpacked: () => Text,
): Script<Args, Answer> => ({
  name,
  sha,
  args,
  answers,
  get text() {
    return unpacked().text
  },
  get places() {
    return unpacked().places
  },
})

export const inSources = (text: string, { name, places }: Pick<Script<never>, 'name' | 'places'>): string =>
  text.replace(/@?(?:user_script|<string>):(\d+)/g, (_, line: string) => places[Number(line) - 1] || name)
