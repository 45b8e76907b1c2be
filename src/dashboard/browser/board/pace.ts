// Limits the parts drawn per frame, because drawing all parts of a large board takes longer than a frame.

const MOST = 40

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
      if (!isAsked) frame()
    },
  }
}
