import type { Child } from 'hono/jsx'

export function Legend({ lines, children }: { lines: readonly [kind: string, word: string][]; children?: Child }) {
  return (
    <div class="tools tl wide" aria-hidden="true">
      {lines.map(([kind, word]) => (
        <span class="row">
          <svg class="hs" width="18" height="6" aria-hidden="true">
            <path class={`wire ${kind}`} d="M0 3H18" />
          </svg>
          {word}
        </span>
      ))}
      {children}
    </div>
  )
}
