/** `asked` is null if the function returned before its next step. `longer` is in milliseconds. */
export type CodeChange = { kept: string; asked: string | null; longer?: number }

export function codeChangeIn(error: string | null): (CodeChange & { message: string }) | undefined {
  if (!error?.includes('"codeChange"')) return undefined
  const { message = '', detail } = JSON.parse(error) as { message?: string; detail?: { codeChange?: CodeChange } }
  return detail?.codeChange && { message, ...detail.codeChange }
}
