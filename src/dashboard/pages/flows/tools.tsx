// Zoom of a board.

import { Icon } from '../../parts/icon.tsx'

const tools = [
  ['nearer', 'plus', 'Zoom in'],
  ['farther', 'minus', 'Zoom out'],
  ['fit', 'fit', 'All of it'],
] as const

export function Tools() {
  return (
    <div class="tools bl">
      {tools.map(([how, icon, label]) => (
        <button
          class="btn icon"
          type="button"
          data-view={how}
          data-hotkey={how === 'fit' ? 'f' : undefined}
          aria-label={label}
          title={how === 'fit' ? 'All of it (f)' : label}
        >
          <Icon name={icon} size={14} />
        </button>
      ))}
    </div>
  )
}
