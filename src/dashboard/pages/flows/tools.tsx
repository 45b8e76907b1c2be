import { Icon } from '../../parts/layout.tsx'

const tools = [
  ['find', 'search', 'Find a node or wire', '/'],
  ['nearer', 'plus', 'Zoom in'],
  ['farther', 'minus', 'Zoom out'],
  ['fit', 'fit', 'Fit to screen', 'f'],
] as const

export function Tools() {
  return (
    <div class="tools bl">
      {tools.map(([how, icon, label, hotkey]) => (
        <button
          class="btn icon"
          type="button"
          data-view={how}
          data-hotkey={hotkey}
          aria-label={label}
          title={hotkey ? `${label} (${hotkey})` : label}
        >
          <Icon name={icon} size={14} />
        </button>
      ))}
    </div>
  )
}
