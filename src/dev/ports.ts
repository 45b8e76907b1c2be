import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const HOST = '127.0.0.1'

/** The system gives ports above this range to other processes. `fetch` refuses some lower ports, such as 10080. */
const [LOW, HIGH] = [10_081, 32_000]
const TRIES = 20

const probe = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(port, HOST, () => server.close(() => resolve()))
  })

export async function claimPort(port: number, { setting }: { setting: string }): Promise<number> {
  for (let tries = 1; ; tries++) {
    const wanted = port || randomInt(LOW, HIGH)
    try {
      await probe(wanted)
      return wanted
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (port === 0 && tries < TRIES) continue
      const why = code === 'EADDRINUSE' ? 'is in use by another process' : `cannot be opened (${message})`
      throw new Error(`port ${wanted} ${why}. Set ${setting} to another port`)
    }
  }
}
