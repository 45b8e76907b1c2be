// How a script is called: by its sha, with its arguments by name.

/** A Lua script as built: `args` are the names of its first arguments, in order. */
export type Script<Args> = { name: string; sha: string; args: (keyof Args & string)[]; text: string }

/** Whoever can evaluate scripts: the client of client.ts, or a test's own connection. */
export type Evaluate = <Args>(script: Script<Args>, keys: string[], args: Args, rest: string[]) => Promise<unknown>

export const argumentsOf = <Args>(script: Script<Args>, args: Args, rest: string[]): string[] => [
  ...script.args.map((name) => String(args[name])),
  ...rest,
]
