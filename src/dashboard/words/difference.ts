type Line = { sign: '+' | '-'; line: string }

export function differenceOf(was: readonly string[], is: readonly string[]): Line[] {
  const [before, after] = [new Set(was), new Set(is)]
  return [
    ...was.filter((line) => !after.has(line)).map((line) => ({ sign: '-' as const, line })),
    ...is.filter((line) => !before.has(line)).map((line) => ({ sign: '+' as const, line })),
  ]
}
