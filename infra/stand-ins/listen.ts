import type { AddressInfo, Server } from 'node:net'

export const portTaken = (who: string, host: string, port: number): Error =>
  new Error(`${who} needs ${host}:${port}, which another process uses: stop that process, or choose another port`)

/** Returns the port, which the system chooses if `port` is 0. */
export async function listen(server: Server, who: string, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? portTaken(who, host, port) : error),
    )
    server.listen(port, host, resolve)
  })
  return (server.address() as AddressInfo).port
}
