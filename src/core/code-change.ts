// The error of a function that requested other steps and waits than its job has stored.

/**
 * `asked` is null if the function returned without asking for what the job keeps. `longer`: milliseconds that the
 * requested wait is longer than the kept one.
 */
export type CodeChange = { kept: string; asked: string | null; longer?: number }

export function codeChangeIn(error: string | null): (CodeChange & { message: string }) | undefined {
  if (!error?.includes('"codeChange"')) return undefined
  const { message = '', detail } = JSON.parse(error) as { message?: string; detail?: { codeChange?: CodeChange } }
  return detail?.codeChange && { message, ...detail.codeChange }
}
