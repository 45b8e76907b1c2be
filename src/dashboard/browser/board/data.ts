import type { FlowNodeView, WireView } from '../../../engine/engine.ts'
import type { DeployMark } from '../../words/deploy.ts'
import type { LimitRoom } from '../../words/flow.ts'

export type BoardData = {
  job: number
  hash?: string
  nodes: FlowNodeView[]
  wires: WireView[]
  isPast?: boolean
  limits: Record<string, LimitRoom>
  deploys: DeployMark[]
  node?: string
  wire?: string
  lit?: { nodes: string[]; wires: string[] }
}

let offset = 0

/** Milliseconds since 1970, by the clock of the server. */
export const serverNow = (): number => Date.now() - offset

export function setClock(now: number): void {
  offset = Date.now() - now
}

export function dataOf<Data>(name: 'flow' | 'editing'): Data | undefined {
  const text = document.querySelector<HTMLElement>(`[data-${name}]`)?.dataset[name]
  if (text === undefined) return undefined
  // The server's time is in a `time` element, because its text does not count as a change of the page.
  setClock(Number(document.querySelector('[data-clock]')!.textContent))
  return JSON.parse(text) as Data
}
