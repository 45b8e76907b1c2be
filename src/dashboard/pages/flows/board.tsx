import type { Child } from 'hono/jsx'
import { Icon } from '../../parts/layout.tsx'

export type Lines = readonly [kind: string, word: string, meaning?: string][]

const tools = [
  ['find', 'search', 'Find a node or wire', '/'],
  ['nearer', 'plus', 'Zoom in'],
  ['farther', 'minus', 'Zoom out'],
  ['fit', 'fit', 'Fit to screen', 'f'],
] as const

type ToolProps = {
  data: Record<`data-${string}`, string>
  icon: string
  label: string
  hotkey?: string
  small?: boolean
}

export const Tool = ({ data, icon, label, hotkey, small }: ToolProps) => (
  <button
    class={small ? 'btn small icon' : 'btn icon'}
    type="button"
    {...data}
    data-hotkey={hotkey}
    aria-label={label}
    title={hotkey ? `${label} (${hotkey})` : label}
  >
    <Icon name={icon} size={small ? 12 : 14} />
  </button>
)

type ModesProps = { label: string; data: 'edit' | 'replay'; of: readonly (readonly [name: string, word: string])[] }

/** The script marks another button as pressed. At first, `on` is. */
export const Modes = ({ label, data, of, on }: ModesProps & { on: string }) => (
  <fieldset class="seg" aria-label={label}>
    {of.map(([name, word]) => (
      <button type="button" {...{ [`data-${data}`]: name }} aria-pressed={name === on ? 'true' : 'false'}>
        {word}
      </button>
    ))}
  </fieldset>
)

export function Board({ label, lines, children }: { label: string; lines: Lines; children?: Child }) {
  return (
    <div class="board" data-island="board">
      <svg data-board viewBox="0 0 800 400" preserveAspectRatio="xMidYMid meet" role="application" aria-label={label} />
      {children}
      <div class="tools tl wide" aria-hidden="true">
        {lines.map(([kind, word, meaning]) => (
          <span class="row" title={meaning}>
            <svg width="18" height="6" aria-hidden="true">
              <path class={`wire ${kind}`} d="M0 3H18" />
            </svg>
            {word}
          </span>
        ))}
      </div>
      <div class="tools tr">
        {tools.map(([how, icon, label, hotkey]) => (
          <Tool data={{ 'data-view': how }} icon={icon} label={label} hotkey={hotkey} />
        ))}
      </div>
    </div>
  )
}
