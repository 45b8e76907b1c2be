import { join } from 'node:path'
import { startLua } from './luas.ts'
import { type Calls, callsOf, measureCalls } from './script-calls.ts'

export async function measureScripts(share = 1): Promise<Calls> {
  const host = await startLua('strict')
  try {
    const make = await callsOf(join(import.meta.dirname, '../../..'), host)
    await measureCalls(make, host, 'strict', share)
    return await measureCalls(make, host, 'strict', share)
  } finally {
    await host.close()
  }
}

export async function reportScripts(): Promise<string[]> {
  const calls = Object.entries(await measureScripts())
  return [
    "\nscripts in the vendor's Lua, compiled once: ms of CPU per call",
    ...calls.map(([title, ms]) => `  ${title.padEnd(62)}${ms.toFixed(2).padStart(8)}`),
  ]
}
