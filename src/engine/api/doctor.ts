import { encodeValue } from '../../core/codec/value.ts'
import { hasCode, SidejobError } from '../../core/errors.ts'
import { afterLook } from '../../core/examined.ts'
import { linkOf } from '../../core/faults.ts'
import { readGraph } from '../../core/graph.ts'
import { wireFaults } from '../../core/wire-faults.ts'
import { opWords } from '../../redis/changes.ts'
import { PLACE } from '../../redis/marks.ts'
import type { Words } from '../../redis/ops.ts'
import type { Fault, FlowState } from '../../redis/types.ts'
import type { Context } from '../context.ts'
import type { FoundFault } from '../engine.ts'
import { expectGraph, flowFactsOf, flowsOf, graphsOf } from './flow-view.ts'

const FIRST = '10'
/** The last digit of a cursor is the kind of check, and the digits before it are the position. */
const FLOWS = '9'

type Slice = { faults: FoundFault[]; jobs: number; cursor: string | null }

type Target = Pick<Fault, 'kind' | 'who'>

function targetsOf(faults: readonly Fault[]): Target[] {
  const targets = new Map(faults.map(({ kind, who }) => [`${kind} ${who}`, { kind, who }]))
  return [...targets.values()]
}

const wireFault = (id: number, what: string): Fault => ({
  kind: 'flow',
  who: String(id),
  what,
  remedy: 'the wires are restored from the graph of the flow; waiting values continue',
})

const linked = (fault: Fault) => ({ ...fault, link: linkOf(fault) })

const isAtRest = ({ document: { place } }: FlowState): boolean => place === PLACE.suspended || place === PLACE.completed

function wiresAt(state: FlowState) {
  const { graph } = graphsOf(state)
  return graph === undefined ? [] : wireFaults(readGraph(graph), flowFactsOf(state))
}

export function createDoctor({ store, ring, change, now }: Context) {
  async function examineFlows(before: string | undefined): Promise<Slice> {
    // A running flow may not have connected all its wires yet.
    const { states, cursor } = await flowsOf(store, { status: ['suspended', 'completed'], before })
    const faults = states
      .filter(isAtRest)
      .flatMap((state) => wiresAt(state).map(({ what }) => wireFault(state.id, what)))
    return { faults: faults.map(linked), jobs: 0, cursor: cursor && `${cursor}${FLOWS}` }
  }

  async function look(cursor: string): Promise<Slice> {
    if (cursor.endsWith(FLOWS)) return examineFlows(cursor.slice(0, -1) || undefined)
    const { faults, seen, next } = await store.verify(Number(cursor))
    return { faults: faults.map(linked), jobs: seen, cursor: next === null ? FLOWS : String(next) }
  }

  /** A full Redis refuses this record, but still accepts repairs. */
  async function note(cursor: string, { faults, cursor: next }: Slice) {
    const look = { cursor, isFirst: cursor === FIRST, isLast: next === null, faults }
    const known = afterLook(await store.examined(), look, now())
    if (!known) return
    await store.setExamined(known).catch((error: unknown) => {
      if (!hasCode(error, 'FULL')) throw error
    })
  }

  async function rewire(id: string) {
    const state = await store.flow(id)
    const ops = wiresAt(state).map(({ op }): Words => opWords(op, store.vault, encodeValue({ job: state.id })!))
    if (ops.length > 0) await change(id, [expectGraph(graphsOf(state).graph, store.vault), ...ops])
  }

  async function repairFault(target: Target) {
    try {
      if (target.kind !== 'flow') return await ring(await store.repair([target]))
      await rewire(target.who)
    } catch (error) {
      if (!(error instanceof SidejobError)) throw error
    }
  }

  return {
    examine: (cursor: string = FIRST) => look(cursor),

    async repair(cursor: string = FIRST) {
      const slice = await look(cursor)
      const { faults, jobs, cursor: next } = slice
      if (faults.length === 0) {
        await note(cursor, slice)
        return { repaired: [], left: [], jobs, cursor: next }
      }
      // Repairs each target in a separate script, so that Redis can serve other callers in between.
      for (const target of targetsOf(faults)) await repairFault(target)
      const after = await look(cursor)
      await note(cursor, { ...after, cursor: next })
      const left = new Set(after.faults.map(({ who, what }) => `${who} ${what}`))
      const isLeft = ({ who, what }: Fault) => left.has(`${who} ${what}`)
      return { repaired: faults.filter((one) => !isLeft(one)), left: faults.filter(isLeft), jobs, cursor: next }
    },

    async verify() {
      const faults: Fault[] = []
      for (let cursor: string | null = FIRST; cursor !== null; ) {
        const slice: Slice = await look(cursor)
        faults.push(...slice.faults)
        cursor = slice.cursor
      }
      return faults
    },
  }
}
