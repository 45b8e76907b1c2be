// Finds ports of this machine that nobody has.

import { type AddressInfo, createServer } from 'node:net'

const HOST = '127.0.0.1'

/** Checks that a port can be had; 0 finds one. */
export function claimPort(port: number, { setting }: { setting: string }) {
  return new Promise<number>((resolve, reject) => {
    const probe = createServer().once('error', ({ code, message }: NodeJS.ErrnoException) => {
      const why = code === 'EADDRINUSE' ? 'is taken by another process: stop that one' : `cannot be had (${message})`
      reject(new Error(`port ${port} ${why}, or set ${setting} to another port`))
    })
    probe.listen(port, HOST, () => {
      const { port: found } = probe.address() as AddressInfo
      probe.close(() => resolve(found))
    })
  })
}
