// Who makes the functions of a script: each function that makes others takes what those use from outside once, and hands it
// on at no cost. To take it, Lua looks through all that has been taken before, so that few makers are worth much: for
// `commit` a call took 96 µs in Redis 7.0, half of them for this, when each group of functions had its own.

import { type Group, isField, type Library } from './lua-library.ts'
import type { Given, Unit } from './lua-modules.ts'

/** What a script has of a group, and which of it does nothing there. */
export type Kept = { group: Group; units: Unit[]; idle: Unit[] }

/** In Redis' Lua a function takes 60 names from outside. */
const MOST = 58

/** What scripts have first, as modules call it. */
const FIRST = new Set(['ns', 'clock', 'seed', 'at'])

/** What is declared with a group: what it gives nobody else. */
export const innerOf = ({ units, idle }: Kept, shared: ReadonlySet<Given>, { nameOf }: Library): Given[] =>
  [...units, ...idle]
    .flatMap(({ gives }) => gives)
    .filter((symbol) => symbol.constant === undefined && !shared.has(symbol) && !isField(nameOf.get(symbol)!))

/** The names that a group takes from outside. */
function takenBy(kept: Kept, shared: ReadonlySet<Given>, library: Library): Set<string> {
  const inner = new Set(innerOf(kept, shared, library))
  const uses = kept.units.flatMap((unit) => unit.uses)
  const symbols = [...kept.units, ...kept.idle].flatMap(({ gives }) => gives).concat(uses.map(({ symbol }) => symbol))
  const names = symbols
    .filter((symbol) => symbol.constant === undefined && !inner.has(symbol))
    .map((symbol) => library.nameOf.get(symbol)!)
    .map((name) => (isField(name) ? 'F' : name))
  const first = kept.units.flatMap(({ places }) => places).filter(({ name, binding }) => !binding && FIRST.has(name))
  return new Set([...names, ...first.map(({ name }) => name)])
}

type Maker = { kept: Kept[]; taken: Set<string> }

const joined = (taken: ReadonlySet<string>, more: ReadonlySet<string>): Set<string> => new Set([...taken, ...more])

/** Groups that are made when they are wanted, by as few makers as Lua allows: each goes to those whose names it shares most. */
export function makersOf(groups: readonly Kept[], shared: ReadonlySet<Given>, library: Library): Kept[][] {
  const sized = groups.map((kept) => ({ kept, taken: takenBy(kept, shared, library) }))
  sized.sort((a, b) => b.taken.size - a.taken.size)
  const makers: Maker[] = []
  for (const { kept, taken } of sized) {
    const grown = (maker: Maker): number => joined(maker.taken, taken).size - maker.taken.size
    const fitting = makers.filter((maker) => maker.taken.size + grown(maker) <= MOST)
    const best = fitting.sort((a, b) => grown(a) - grown(b))[0]
    if (best) {
      best.kept.push(kept)
      best.taken = joined(best.taken, taken)
    } else makers.push({ kept: [kept], taken })
  }
  return makers.map(({ kept }) => kept)
}

/** Groups that each call makes, in their order, those that follow each other by one maker. */
export function inMakers(groups: readonly Kept[], shared: ReadonlySet<Given>, library: Library): Kept[][] {
  const makers: Maker[] = []
  for (const kept of groups) {
    const last = makers.at(-1)
    const taken = takenBy(kept, shared, library)
    const both = joined(last?.taken ?? taken, taken)
    if (last && both.size <= MOST) {
      last.kept.push(kept)
      last.taken = both
    } else makers.push({ kept: [kept], taken })
  }
  return makers.map(({ kept }) => kept)
}
