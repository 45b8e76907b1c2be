// Draws some parts in each frame: all texts of a large board take longer than a frame.

const MOST = 40

/** Newer parts replace parts that are not drawn yet. */
export function createPace() {
  let left: (() => void)[] = []
  let isAsked = false

  function frame(): void {
    for (const draw of left.splice(0, MOST)) draw()
    isAsked = left.length > 0
    if (isAsked) requestAnimationFrame(frame)
  }

  return {
    atOnce(parts: (() => void)[]): void {
      left = []
      for (const draw of parts) draw()
    },
    soon(parts: (() => void)[]): void {
      left = parts
      if (!isAsked) requestAnimationFrame(frame)
      isAsked = true
    },
  }
}
