const WIDTH = 40
const EVERY = 10

export function progress(total: number, what: string, out: NodeJS.WriteStream = process.stdout) {
  let shown = -1
  return (done: number) => {
    const percent = total === 0 ? 100 : Math.floor((100 * done) / total)
    const step = out.isTTY ? done : Math.floor(percent / EVERY)
    if (step <= shown) return
    shown = step
    const filled = Math.round((WIDTH * percent) / 100)
    const line = `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${String(percent).padStart(3)}%  ${done} of ${total} ${what}`
    out.write(out.isTTY ? `\r${line}${done >= total ? '\n' : ''}` : `${line}\n`)
  }
}
