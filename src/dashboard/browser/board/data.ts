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

/** The server's time is in a `time` element, because its text does not count as a change of the page. */
export const clockOf = (): number => Number(document.querySelector('[data-clock]')?.textContent ?? Date.now())

export const dataOf = <Data>(name: string): Data | undefined => {
  const text = document.querySelector<HTMLElement>(`[data-${name}]`)?.dataset[name]
  return text === undefined ? undefined : (JSON.parse(text) as Data)
}
