const VARYING = /(#|<(?:url|text|id|time|path)>)/

type Piece = { text: string; varies: boolean }

/**
 * Returns the pieces of `message` if `example` does not match it.
 *
 * @example varyingIn('card # declined', 'card 4242 declined') // 'card ', '4242' which varies, ' declined'
 */
export function varyingIn(message: string, example: string): Piece[] {
  const parts = message.split(VARYING).map((text, i): Piece => ({ text, varies: i % 2 === 1 }))
  const found: Piece[] = []
  let at = 0
  for (const [i, { text, varies }] of parts.entries()) {
    if (varies) continue
    // The last piece is at the end, because earlier text may contain it too.
    const from = i === parts.length - 1 && text !== '' ? example.lastIndexOf(text) : example.indexOf(text, at)
    const start = i === parts.length - 1 && text === '' ? example.length : from
    if (start < at || (i === 0 && start > 0)) return parts.filter((one) => one.text !== '')
    found.push({ text: example.slice(at, start), varies: true }, { text, varies: false })
    at = start + text.length
  }
  return found.filter((one) => one.text !== '')
}
