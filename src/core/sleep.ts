/** In milliseconds. JavaScript fires a longer timer immediately. */
export const MAX_TIMER_MS = 2 ** 31 - 1

export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    const stop = () => {
      clearTimeout(timer)
      resolve()
    }
    signal?.addEventListener('abort', stop, { once: true })
  })
