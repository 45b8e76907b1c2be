// A match takes at most (pattern length × text length) steps, so no pattern is slow.

export type Step = { fits: (char: string) => boolean; many?: true }

const MOST = 1_000

const any = () => true

export function fitsSteps(steps: readonly Step[], text: string): boolean {
  let [here, next] = [new Uint8Array(steps.length + 1), new Uint8Array(steps.length + 1)]
  reach(steps, here, 0)
  for (const char of text.slice(0, MOST)) {
    let isAlive = false
    next.fill(0)
    for (let at = 0; at < steps.length; at++)
      if (here[at] && steps[at]!.fits(char)) {
        reach(steps, next, steps[at]!.many ? at : at + 1)
        isAlive = true
      }
    if (!isAlive) return false
    ;[here, next] = [next, here]
  }
  return here[steps.length] === 1
}

function reach(steps: readonly Step[], places: Uint8Array, at: number): void {
  let place = at
  while (places[place] === 0) {
    places[place] = 1
    if (steps[place]?.many) place++
  }
}

/**
 * `*` matches any text, and `?` matches one character.
 *
 * @example fitsGlob('mail.*', 'mail.welcome') // true
 */
export function fitsGlob(glob: string, text: string): boolean {
  if (!/[*?]/.test(glob)) return glob === text
  const steps = [...glob].map(
    (char): Step =>
      char === '*' ? { fits: any, many: true } : { fits: char === '?' ? any : (given) => given === char },
  )
  return fitsSteps(steps, text)
}
