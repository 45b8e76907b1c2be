// Names of users' things: as they wrote them, cut in the middle, with the whole on hover.

import { plain } from '../words/json.ts'
import { cut } from '../words/text.ts'

export function Name({ of, most }: { of: string; most?: number }) {
  const text = cut(of, most)
  const whole = plain(of)
  return text === whole ? <>{text}</> : <span title={whole}>{text}</span>
}
