// Values of users: text, never HTML; long ones cut, those called like secrets covered.

import { type Encoded, encodedToJson, wireSize } from '../../core/codec/value.ts'
import { isSecret, plain, pretty, textOf } from '../words/json.ts'
import { bytes } from '../words/number.ts'

/** Above this a value is asked for: it is not drawn. */
const MOST = 65_536

/** A value on one line. */
export function Value({ value }: { value: Encoded }) {
  const { text, isCut } = textOf(value)
  return (
    <span class="val" title={isCut ? `${bytes(wireSize(value))}, the beginning is shown` : text}>
      {text}
      {isCut ? '…' : ''}
    </span>
  )
}

/** A value with each member on a line of its own. */
export function Json({ value, href }: { value: Encoded; href?: string }) {
  const json = encodedToJson(value)
  if (json.length > MOST)
    return (
      <p class="body note">
        {bytes(wireSize(value))}: too large to be drawn here.{' '}
        {href && (
          <a class="link" href={href}>
            Open it as JSON
          </a>
        )}
      </p>
    )
  const pieces = pretty(json)
  return (
    <pre tabindex={0}>
      {pieces.map((piece, at) =>
        isSecret(pieces, at) ? (
          <details class="cover">
            <summary>covered</summary>
            <span class="s">{piece.text}</span>
          </details>
        ) : piece.kind === '' || piece.kind === 'n' ? (
          piece.text
        ) : (
          <span class={piece.kind}>{piece.text}</span>
        ),
      )}
    </pre>
  )
}

/** What a value says in a sentence: a text without its quotes, and anything else as it is. */
export const said = (value: Encoded, most = 200): string => {
  const json = encodedToJson(value)
  const text = /^"(?:[^"\\]|\\.)*"$/.test(json.slice(0, most * 6)) ? String(JSON.parse(json)) : json
  return plain(text.length > most ? `${text.slice(0, most)}…` : text)
}
