// Browsers load this module, so it imports no schemas.

/** `node` is null for the flow's own ports. */
export type End = { node: string | null; port: string }
export type GraphWire = { id: string; from: End; to: End }

type Source = { node: string; outport: string }
type Target = { node: string; inport: string }

export type Wired = {
  edges: readonly { from: Source; to: Target }[]
  inports: Record<string, Target>
  outports: Record<string, Source>
}

export const endText = ({ node, port }: End): string => (node === null ? port : `${node}.${port}`)

const sourceEnd = ({ node, outport }: Source) => ({ node, port: outport })
const targetEnd = ({ node, inport }: Target) => ({ node, port: inport })

export function wiresOf({ edges, inports, outports }: Wired): GraphWire[] {
  const ends: [End, End][] = [
    ...Object.entries(inports).map(([port, to]): [End, End] => [{ node: null, port }, targetEnd(to)]),
    ...edges.map(({ from, to }): [End, End] => [sourceEnd(from), targetEnd(to)]),
    ...Object.entries(outports).map(([port, from]): [End, End] => [sourceEnd(from), { node: null, port }]),
  ]
  const times = new Map<string, number>()
  return ends.map(([from, to]) => {
    const name = `${endText(from)}>${endText(to)}`
    const n = (times.get(name) ?? 0) + 1
    times.set(name, n)
    return { id: n === 1 ? name : `${name}#${n}`, from, to }
  })
}

type NamedPort = { node: string; dir: 'in' | 'out'; port: string; path: (string | number)[] }

export function namedPorts(graph: Wired, before?: Wired): NamedPort[] {
  const known = new Set(before ? namedPorts(before).map(portText) : [])
  const all: NamedPort[] = [
    ...Object.entries(graph.inports).map(([name, to]) => inPort(to, ['inports', name])),
    ...graph.edges.flatMap(({ from, to }, i) => [outPort(from, ['edges', i, 'from']), inPort(to, ['edges', i, 'to'])]),
    ...Object.entries(graph.outports).map(([name, from]) => outPort(from, ['outports', name])),
  ]
  return all.filter((one) => !known.has(portText(one)))
}

const portText = ({ node, dir, port }: NamedPort): string => `${node} ${dir} ${port}`
const inPort = (to: Target, path: NamedPort['path']): NamedPort => ({
  ...targetEnd(to),
  dir: 'in',
  path: [...path, 'inport'],
})
const outPort = (from: Source, path: NamedPort['path']): NamedPort => ({
  ...sourceEnd(from),
  dir: 'out',
  path: [...path, 'outport'],
})
