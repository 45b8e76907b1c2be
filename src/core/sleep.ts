/** In milliseconds. JavaScript fires a longer timer immediately. */
export const MAX_TIMER_MS = 2 ** 31 - 1

export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const stop = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      resolve()
    }
    const timer = setTimeout(stop, ms)
    signal?.addEventListener('abort', stop)
  })
