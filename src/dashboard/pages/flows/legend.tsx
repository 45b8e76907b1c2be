export type Lines = readonly [kind: string, word: string, meaning?: string][]

export function Legend({ lines }: { lines: Lines }) {
  return (
    <div class="tools tl wide" aria-hidden="true">
      {lines.map(([kind, word, meaning]) => (
        <span class="row" title={meaning}>
          <svg class="hs" width="18" height="6" aria-hidden="true">
            <path class={`wire ${kind}`} d="M0 3H18" />
          </svg>
          {word}
        </span>
      ))}
    </div>
  )
}
