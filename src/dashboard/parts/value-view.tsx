// Shows users' values as text, never as HTML, and hides secrets.

import { type Encoded, encodedSize, encodedToJson } from '../../core/codec/value.ts'
import { useLook } from '../look.ts'
import { isSecret, type Piece, pretty, shownJson, textOf } from '../words/json.ts'
import { bytes, plain, timeOn, truncated } from '../words/text.ts'

const MOST = 65_536

const BEHIND = 4_096

export function Value({ value, href }: { value: Encoded; href?: string }) {
  const { text, length, isCut } = textOf(value)
  if (!isCut)
    return (
      <span class="val" title={text}>
        {text}
      </span>
    )
  const size = `${bytes(encodedSize(value))}; only the beginning is shown`
  if (length <= BEHIND)
    return (
      <details>
        <summary class="val" title={size}>
          {text}…
        </summary>
        <Json value={value} />
      </details>
    )
  return href ? (
    <a class="val" title={size} href={href}>
      {text}…
    </a>
  ) : (
    <span class="val" title={size}>
      {text}…
    </span>
  )
}

const linesIn = (pieces: readonly Piece[]): string[] =>
  pieces
    .map(({ text }) => text)
    .join('')
    .split(/,?\n/)

export function Json({ value, href, unlike }: { value: Encoded; href?: string; unlike?: Encoded | null }) {
  const { now, zone } = useLook()
  const json = shownJson(value)
  if (json.length > MOST)
    return (
      <p class="body note">
        {bytes(encodedSize(value))}: too large to show here.{' '}
        {href && (
          <a class="link" href={href}>
            Open as JSON
          </a>
        )}
      </p>
    )
  const pieces = pretty(json)
  const own = linesIn(pieces)
  const known = new Set(unlike ? linesIn(pretty(shownJson(unlike))) : own)
  let line = 0
  const isNew = pieces.map(({ text }) => !known.has(own[text.startsWith('\n') ? ++line : line]!))
  return (
    <pre tabindex={0}>
      {pieces.map((piece, at) =>
        /^1\d{12}$/.test(piece.text) && pieces[at - 3]?.text.endsWith('At"') ? (
          <span data-at={timeOn(+piece.text, now, zone)}>{piece.text}</span>
        ) : isSecret(pieces, at) ? (
          <details class="cover">
            <summary>hidden</summary>
            <span class="s">{piece.text}</span>
          </details>
        ) : isNew[at] && 'sno'.includes(piece.kind || ' ') ? (
          <mark>{piece.text}</mark>
        ) : piece.kind === '' || piece.kind === 'n' ? (
          piece.text
        ) : (
          <span class={piece.kind}>{piece.text}</span>
        ),
      )}
    </pre>
  )
}

export function valueText(value: Encoded, most: number): string {
  const json = encodedToJson(value)
  const text = /^"(?:[^"\\]|\\.)*"$/.test(json.slice(0, most * 6)) ? String(JSON.parse(json)) : json
  return plain(truncated(text, most))
}
