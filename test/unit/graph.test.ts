import { describe, expect, test } from 'vitest'
import { SidejobError } from '../../src/core/errors.ts'
import { graphText, readGraph } from '../../src/core/graph.ts'

const nodes = '{"sum":{"queue":"core","class":"sum"},"double":{"class":"double"}}'
const with_ = (members: string) => `{"nodes":${nodes},${members}}`

test('all parts are optional', () => {
  expect(readGraph('{}')).toEqual({ nodes: {}, edges: [], inports: {}, outports: {} })
})

test('a node is in queue default unless it names one, and keeps members of editors', () => {
  expect(readGraph('{"nodes":{"a":{"class":"x","name":"A","view":{"x":1}}}}').nodes.a).toEqual({
    queue: 'default',
    class: 'x',
    name: 'A',
    view: { x: 1 },
  })
})

test('values keep their digits when a graph is read and written', () => {
  const text =
    '{"nodes":{"a":{"class":"x","args":[1.0,12345678901234567890],"inports":{"n":{"default":1.50,"init":[0.1,{"b":[]}]}}}}}'
  const graph = readGraph(text)
  expect(graph.nodes.a!.args).toBe('[1.0,12345678901234567890]')
  expect(graph.nodes.a!.inports!.n).toEqual({ default: '1.50', init: ['0.1', '{"b":[]}'] })
  expect(readGraph(graphText(graph))).toEqual(graph)
  expect(graphText(graph)).toContain('"args":[1.0,12345678901234567890]')
})

const faults: [name: string, text: string, message: string, path: (string | number)[]][] = [
  ['null is no graph', 'null', 'the body: expected an object, got null', []],
  ['a class is needed', '{"nodes":{"a":{}}}', 'nodes.a.class: is missing', ['nodes', 'a', 'class']],
  [
    'a port takes a list of values',
    '{"nodes":{"a":{"class":"x","inports":{"n":{"init":5}}}}}',
    'nodes.a.inports.n.init: expected a list',
    ['nodes', 'a', 'inports', 'n', 'init'],
  ],
  [
    'a port has a name that ports can have',
    '{"nodes":{"a":{"class":"x","outports":{"not-a-name":{}}}}}',
    'nodes.a.outports.not-a-name: expected a port name',
    ['nodes', 'a', 'outports', 'not-a-name'],
  ],
  [
    'an edge begins at a node',
    with_('"edges":[{"from":{"node":"nowhere","outport":"out"},"to":{"node":"double","inport":"in"}}]'),
    'edges[0].from.node: the graph has no node "nowhere"',
    ['edges', 0, 'from', 'node'],
  ],
  [
    'an edge ends at a node',
    with_('"edges":[{"from":{"node":"sum","outport":"out"},"to":{"node":"dubble","inport":"in"}}]'),
    'edges[0].to.node: the graph has no node "dubble"',
    ['edges', 0, 'to', 'node'],
  ],
  [
    'an edge names a port',
    with_('"edges":[{"from":{"node":"sum"},"to":{"node":"double","inport":"in"}}]'),
    'edges[0].from.outport: is missing',
    ['edges', 0, 'from', 'outport'],
  ],
  [
    'a port of the flow feeds a node',
    with_('"inports":{"x":{"node":"none","inport":"in"}}'),
    'inports.x.node: the graph has no node "none"',
    ['inports', 'x', 'node'],
  ],
  [
    'a port of the flow is fed by a node',
    with_('"outports":{"y":{"node":"none","outport":"out"}}'),
    'outports.y.node: the graph has no node "none"',
    ['outports', 'y', 'node'],
  ],
  [
    'adopt takes the id of a job',
    '{"nodes":{"a":{"class":"x","init":0}}}',
    'nodes.a.init: expected',
    ['nodes', 'a', 'init'],
  ],
  ['a word that is no part of a graph', '{"node":{}}', 'node: unknown member', ['node']],
]

describe('errors name the node and the port', () => {
  test.each(faults)('%s', (_name, text, message, path) => {
    const wrong = expect.objectContaining({ code: 'BAD_REQUEST', path, message: expect.stringContaining(message) })
    expect(() => readGraph(text)).toThrow(wrong)
    expect(() => readGraph(text)).toThrow(SidejobError)
  })
})
