// Zoom of a board.

export function Tools() {
  return (
    <div class="tools bl">
      {[
        ['nearer', 'plus', 'Zoom in'],
        ['farther', 'minus', 'Zoom out'],
        ['fit', 'fit', 'All of it'],
      ].map(([how, icon, label]) => (
        <button
          class="btn icon"
          type="button"
          data-view={how}
          data-hotkey={how === 'fit' ? 'f' : undefined}
          aria-label={label}
          title={how === 'fit' ? 'All of it (f)' : label}
        >
          <svg class="i i14" aria-hidden="true">
            <use href={`#${icon}`} />
          </svg>
        </button>
      ))}
    </div>
  )
}
