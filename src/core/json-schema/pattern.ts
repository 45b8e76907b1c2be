// JavaScript's RegExp backtracks: `(a+)+$` takes seconds for 30 letters. This automaton follows all paths at once.

type Tree =
  | { kind: 'one'; takes: (character: string) => boolean }
  | { kind: 'all'; of: Tree[] }
  | { kind: 'any'; of: Tree[] }
  | { kind: 'repeat'; of: Tree; min: number; max: number }
  | { kind: 'at'; place: Place }

type Place = 'start' | 'end' | 'edge' | 'inside'

type State =
  | { takes: (character: string) => boolean; next: number }
  | { ways: number[] }
  | { place: Place; next: number }

const MOST = { characters: 500, states: 1_000 }

const tooLarge = () =>
  new Error(`expected a pattern of at most ${MOST.states} states: a repetition such as a{50} counts 50 times`)

class Reader {
  readonly #text: string
  readonly #flags: string
  #at = 0

  constructor(text: string, flags: string) {
    this.#text = text
    this.#flags = flags
  }

  read(): Tree {
    const ways = [this.#sequence()]
    while (this.#eat('|')) ways.push(this.#sequence())
    return ways.length === 1 ? ways[0]! : { kind: 'any', of: ways }
  }

  #sequence(): Tree {
    const of: Tree[] = []
    while (this.#at < this.#text.length && !/^[|)]/.test(this.#rest)) of.push(this.#repeated(this.#atom()))
    return { kind: 'all', of }
  }

  #repeated(of: Tree): Tree {
    const found = this.#eat(/^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/)
    if (!found) return of
    const [, sign, least = '0', comma, most] = found
    if (sign) return { kind: 'repeat', of, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Number.POSITIVE_INFINITY }
    const min = Number(least)
    const max = comma ? (most ? Number(most) : Number.POSITIVE_INFINITY) : min
    if (min > MOST.states || (Number.isFinite(max) && max > MOST.states)) throw tooLarge()
    return { kind: 'repeat', of, min, max }
  }

  #atom(): Tree {
    if (this.#eat(/^\(\?<?[=!]/)) throw new Error('expected a pattern without lookahead or lookbehind')
    if (this.#eat(/^\((\?:|\?<\w+>)?/)) {
      const inner = this.read()
      this.#eat(')')
      return inner
    }
    if (this.#eat(/^\\(?:[1-9]|k<)/)) throw new Error('expected a pattern without backreferences')
    const place = this.#eat(/^(?:\^|\$|\\[bB])/)?.[0]
    if (place) return { kind: 'at', place: places[place]! }
    return { kind: 'one', takes: this.#one() }
  }

  #one(): (character: string) => boolean {
    const set = this.#eat(
      /^\[(?:\\.|[^\]\\])*\]|^\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|.)|^\./isu,
    )
    if (set) {
      const only = new RegExp(`^(?:${set[0]})$`, this.#flags)
      return (character) => only.test(character)
    }
    const literal = this.#eat(/^./su)![0]
    return (character) => character === literal
  }

  get #rest(): string {
    return this.#text.slice(this.#at)
  }

  #eat(wanted: string | RegExp): RegExpExecArray | string[] | undefined {
    const rest = this.#rest
    const found = typeof wanted === 'string' ? (rest.startsWith(wanted) ? [wanted] : null) : wanted.exec(rest)
    if (found) this.#at += found[0]!.length
    return found ?? undefined
  }
}

const places: Record<string, Place> = { '^': 'start', $: 'end', '\\b': 'edge', '\\B': 'inside' }

class Writer {
  readonly states: State[] = [{ ways: [] }]
  #written = 0

  write(tree: Tree, next: number): number {
    if (++this.#written > 10 * MOST.states) throw tooLarge()
    if (tree.kind === 'one') return this.#add({ takes: tree.takes, next })
    if (tree.kind === 'at') return this.#add({ place: tree.place, next })
    if (tree.kind === 'all') return tree.of.reduceRight((after, one) => this.write(one, after), next)
    if (tree.kind === 'any') return this.#add({ ways: tree.of.map((one) => this.write(one, next)) })
    return this.#repeat(tree, next)
  }

  #repeat({ of, min, max }: Extract<Tree, { kind: 'repeat' }>, next: number): number {
    let after = next
    if (max === Number.POSITIVE_INFINITY) {
      const loop = { ways: [] as number[] }
      after = this.#add(loop)
      loop.ways = [this.write(of, after), next]
    } else for (let i = min; i < max; i++) after = this.#add({ ways: [this.write(of, after), next] })
    for (let i = 0; i < min; i++) after = this.write(of, after)
    return after
  }

  #add(state: State): number {
    if (this.states.length > MOST.states) throw tooLarge()
    return this.states.push(state) - 1
  }
}

const isWord = (character: string | undefined): boolean => character !== undefined && /^\w$/.test(character)

function isAt(place: Place, characters: string[], i: number): boolean {
  if (place === 'start') return i === 0
  if (place === 'end') return i === characters.length
  return (isWord(characters[i - 1]) !== isWord(characters[i])) === (place === 'edge')
}

export type Spend = (steps: number) => void

export type Pattern = (text: string, spend: Spend) => boolean

function flagsOf(text: string): string {
  try {
    new RegExp(text, 'u')
    return 'u'
  } catch {
    new RegExp(text)
    return ''
  }
}

/** @throws an error if the pattern is invalid, too large, or uses lookahead, lookbehind or backreferences */
export function patternOf(text: string): Pattern {
  if (text.length > MOST.characters)
    throw new Error(`expected a pattern of at most ${MOST.characters} characters, got ${text.length}`)
  const flags = flagsOf(text)
  const writer = new Writer()
  const first = writer.write(new Reader(text, flags).read(), 0)
  return (subject, spend) => runs(writer.states, first, flags ? [...subject] : subject.split(''), spend)
}

function runs(states: State[], first: number, characters: string[], spend: Spend): boolean {
  let now = new Set<number>()
  const enter = (into: Set<number>, state: number, i: number): void => {
    if (into.has(state)) return
    into.add(state)
    const found = states[state]!
    if ('ways' in found) for (const way of found.ways) enter(into, way, i)
    else if ('place' in found && isAt(found.place, characters, i)) enter(into, found.next, i)
  }
  for (let i = 0; ; i++) {
    enter(now, first, i)
    if (now.has(0)) return true
    if (i === characters.length) return false
    spend(now.size / 4)
    const next = new Set<number>()
    for (const state of now) {
      const found = states[state]!
      if ('takes' in found && found.takes(characters[i]!)) enter(next, found.next, i + 1)
    }
    now = next
  }
}
