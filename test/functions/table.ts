// Both runners read these rows.

import type { Status } from '../../src/core/job.ts'

type Ports = Record<string, { default?: unknown }>

export type Step = {
  /** Moves the clock first, without requesting a run. */
  after?: string
  defaults?: Record<string, unknown>
  give?: Record<string, unknown[]>
  /** Values by output port; a list means the port `out`. Default: none. */
  out?: unknown[] | Record<string, unknown[]>
  /** Default: as before. */
  outDefaults?: Record<string, unknown>
  left?: Record<string, number>
  /** Default: completed, or failed with an error. */
  status?: Status
  error?: RegExp
  refused?: RegExp
}

export type Row = { name: string; with: { in?: Ports; out?: Ports; args?: unknown }; steps: Step[] }

const row = (name: string, ...steps: Step[]): Row => ({ name, with: {}, steps })
const rowWith = (made: Row['with'], name: string, ...steps: Step[]): Row => ({ name, with: made, steps })

const ports = (...names: string[]): Ports => Object.fromEntries(names.map((name) => [name, {}]))

const noSuchName = row('a port must have a name of letters, digits and _', {
  give: { 'not-a-name': [1] },
  refused: /port name/,
})

const noSuchPort = row('has no other input port', {
  give: { elsewhere: [1] },
  refused: /has no input port "elsewhere"/,
})

export const table: Record<string, Row[]> = {
  array: [
    rowWith(
      { in: ports('val1', 'val2') },
      'waits until every port has a value',
      { give: { val1: [[1, 2]] }, status: 'suspended', left: { val1: 1 } },
      { give: { val2: [true] }, out: [[[1, 2], true]], left: { val1: 0, val2: 0 } },
    ),
    rowWith({ in: { a: { default: 0 }, b: {} } }, 'a default fills in', {
      give: { b: [1, 2] },
      out: [
        [0, 1],
        [0, 2],
      ],
    }),
    rowWith({ in: ports('val10', 'val2', 'Val', '_v', '9') }, 'orders by names, byte by byte', {
      give: { val10: [1], val2: [2], Val: [3], _v: [4], 9: [5] },
      out: [[5, 3, 4, 1, 2]],
    }),
    rowWith(
      { in: { a: { default: 1 }, b: { default: null } } },
      'defaults alone become the default of out, once',
      { outDefaults: { out: [1, null] } },
      {},
      { defaults: { a: 2 }, outDefaults: { out: [2, null] } },
    ),
    row('a port made by the first value counts', { give: { any: [false, null] }, out: [[false], [null]] }),
    row('without ports it gives nothing', {}),
    noSuchName,
  ],

  concat: [
    rowWith({ in: ports('in1', 'in2') }, 'joins list by list', {
      give: {
        in1: [
          [1, 2],
          [3, 4],
        ],
        in2: [
          [5, 6],
          [7, 8],
        ],
      },
      out: [
        [1, 2, 5, 6],
        [3, 4, 7, 8],
      ],
    }),
    rowWith({ in: ports('in1', 'in2') }, 'values without a partner wait', {
      give: { in1: [[1]], in2: [[2], [3]] },
      out: [[1, 2]],
      status: 'suspended',
      left: { in2: 1 },
    }),
    rowWith({ in: ports('b', 'a') }, 'orders by names', { give: { b: [[1]], a: [[2]] }, out: [[2, 1]] }),
    rowWith({ in: { a: { default: [0] }, b: {} } }, 'a default fills in', { give: { b: [[1]] }, out: [[0, 1]] }),
    rowWith({ in: ports('a', 'b') }, 'lists within the lists stay', { give: { a: [[[1]]], b: [[]] }, out: [[[1]]] }),
    row('without ports it gives nothing', {}),
    rowWith(
      { in: ports('a', 'b') },
      'a value other than a list fails, and stays',
      { give: { a: [[1]], b: ['x'] }, error: /port "b" .*expected array/, left: { a: 1, b: 1 } },
      { give: { a: [[2]] }, error: /port "b"/, left: { a: 2, b: 1 } },
    ),
  ],

  connect: [
    row('moves values in order', {
      give: { in: [{ test: 123 }, { test2: 456 }] },
      out: [{ test: 123 }, { test2: 456 }],
      left: { in: 0 },
    }),
    rowWith({ in: { in: { default: [1, 2, 3] } } }, 'copies the default', { outDefaults: { out: [1, 2, 3] } }),
    rowWith({ in: { in: { default: 9 } } }, 'moves values and copies the default', {
      give: { in: [1, 2] },
      out: [1, 2],
      outDefaults: { out: 9 },
    }),
    rowWith({ out: { out: { default: 5 } } }, "keeps the other's default if it has none itself", {
      give: { in: [1] },
      out: [1],
      outDefaults: { out: 5 },
    }),
    row('null and false are values', { give: { in: [null, false, 0, ''] }, out: [null, false, 0, ''] }),
    row('repeats this', { give: { in: [1] }, out: [1] }, {}, { give: { in: [2, 3] }, out: [2, 3] }),
    row('returns nothing for nothing', {}),
    noSuchPort,
  ],

  delay: [
    row(
      'delays a value by a number of seconds',
      { give: { delay: [10], in: ['a'] }, status: 'queued' },
      { after: '5s', status: 'queued' },
      { after: '5s', out: ['a'] },
    ),
    rowWith(
      { in: { delay: { default: 10 } } },
      'a default delay holds every value back',
      { give: { in: [1] }, status: 'queued' },
      { after: '5s', give: { in: [2] }, status: 'queued' },
      { after: '5s', out: [1], status: 'queued' },
      { after: '5s', out: [2] },
    ),
    row(
      'the shorter delay overtakes',
      { give: { delay: [20, 10], in: ['a', 'b'] }, status: 'queued' },
      { after: '20s', out: ['b', 'a'] },
    ),
    row(
      'values due at the same time keep their order',
      { give: { delay: [10, 10, 10], in: [3, 1, 2] }, status: 'queued' },
      { after: '1m', out: [3, 1, 2] },
    ),
    row('no delay and a negative one pass in the same run', { give: { delay: [0, -5], in: [1, 2] }, out: [2, 1] }),
    row(
      'a value without a delay waits in its port while other values are due',
      { give: { delay: [10], in: [1, 2] }, left: { in: 1 }, status: 'queued' },
      { after: '10s', out: [1], left: { in: 1 }, status: 'suspended' },
      { give: { delay: [0] }, out: [2] },
    ),
    row(
      'many runs before its time change nothing',
      { give: { delay: [100], in: ['a'] }, status: 'queued' },
      { status: 'queued' },
      { after: '50s', status: 'queued' },
      { give: { delay: [0], in: ['b'] }, out: ['b'], status: 'queued' },
      { after: '50s', out: ['a'] },
      { after: '100s' },
    ),
    row('a delay must be a number', {
      give: { delay: ['10'], in: [1] },
      error: /port "delay" .*expected number/,
      left: { in: 1 },
    }),
    row('a delay of more than a century fails', { give: { delay: [1e300], in: [1] }, error: /port "delay"/ }),
  ],

  each: [
    row('gives the elements one by one', { give: { in: [[0, 1, 2, 3, 4]] }, out: [0, 1, 2, 3, 4] }),
    row('gives entries of an object', {
      give: { in: [{ key1: 1, key2: null }] },
      out: [
        ['key1', 1],
        ['key2', null],
      ],
    }),
    row('takes one level apart', { give: { in: [[[1, [2]], {}]] }, out: [[1, [2]], {}] }),
    row('returns nothing for an empty value', { give: { in: [[], {}] }, left: { in: 0 } }),
    row('keeps the order of several lists', { give: { in: [[1, 2], [3]] }, out: [1, 2, 3] }),
    rowWith(
      { in: { in: { default: [1, 2] } } },
      'with a default, the last element becomes the default',
      { outDefaults: { out: 2 } },
      {},
    ),
    row('a scalar fails', { give: { in: [5] }, error: /port "in" .*a list or an object/ }),
    row('null fails', { give: { in: [null] }, error: /a list or an object/ }),
  ],

  filter: [
    rowWith({ in: { filter: { default: '.' } } }, '. passes everything on', {
      give: { in: [null, true, false, 8, 'text', [1, { a: [] }], { b: null }] },
      out: [null, true, false, 8, 'text', [1, { a: [] }], { b: null }],
    }),
    row('takes a filter for each value', {
      give: { filter: ['.foo', '.bar', '"\\(.bar) world: \\(.foo+1)"'], in: Array(3).fill({ foo: 42, bar: 'hello' }) },
      out: [42, 'hello', 'hello world: 43'],
    }),
    rowWith({ in: { filter: { default: '.[] | select(. > 1)' } } }, 'gives several values, or none', {
      give: { in: [[1, 2, 3], [], [0], [9]] },
      out: [2, 3, 9],
    }),
    row('may define functions, and end with a comment', {
      give: { filter: ['def twice: . * 2; map(twice) # all of them'], in: [[1, 2]] },
      out: [[2, 4]],
    }),
    row('sees no environment', {
      give: { filter: ['[env, $ENV, env.PATH, $ENV.HOME]'], in: [null] },
      out: [[{}, {}, null, null]],
    }),
    row('a filter is never an option', { give: { filter: ['-1', '--version'], in: [5, 5] }, error: /version/ }),
    row('waits for a filter', { give: { in: [1] }, status: 'suspended' }, { give: { filter: ['. + 1'] }, out: [2] }),
    row('numbers are doubles, even if they came with more digits', {
      give: { filter: ['.', '. + 0.2'], in: [9007199254740993n, 0.1] },
      out: [9007199254740992, 0.30000000000000004],
    }),
    row('a syntax error fails', {
      give: { filter: ['syntax error'], in: [1] },
      error: /the filter failed: .*syntax error/s,
    }),
    row('an error also drops earlier outputs', {
      give: { filter: ['1, 2, error("no")'], in: [null] },
      error: /the filter failed: .*no/s,
      left: { in: 1 },
    }),
    row('more than 10,000 values fail', {
      give: { filter: ['range(10001)'], in: [null] },
      error: /more than 10000 values/,
    }),
    row('more than 1 MiB fails', { give: { filter: ['"x" * 1100000'], in: [null] }, error: /more than 1048576 bytes/ }),
    row('a filter must be a text', {
      give: { filter: [null], in: [1] },
      error: /port "filter" .*expected string/,
    }),
  ],

  flatten: [
    row('takes all lists apart', { give: { in: [[1, 2, [3, 4, [5, 6]]]] }, out: [[1, 2, 3, 4, 5, 6]] }),
    row('flattens by a number of levels', {
      give: {
        in: [
          [1, [2, [3, [4]]]],
          [[1], [[2]]],
        ],
        level: [1, 2.9],
      },
      out: [
        [1, 2, [3, [4]]],
        [1, 2],
      ],
    }),
    row('level 0 leaves it as it is, a negative one takes all', {
      give: { in: [[[1, [2]]], [[1, [2]]]], level: [0, -1] },
      out: [[[1, [2]]], [1, 2]],
    }),
    row('a value other than a number flattens all levels', { give: { in: [[[1, [2]]]], level: ['1'] }, out: [[1, 2]] }),
    row('objects within stay', { give: { in: [[{ a: [1] }, [{ b: 2 }]]] }, out: [[{ a: [1] }, { b: 2 }]] }),
    row('an object becomes its keys and values', { give: { in: [{ a: 1, b: [2] }] }, out: [['a', 1, 'b', [2]]] }),
    row('a scalar fails', { give: { in: ['text'] }, error: /port "in" .*a list or an object/ }),
  ],

  flow: [
    row(
      'nodes start when data reaches them: a graph without data completes',
      {
        give: {
          __graph: [
            {
              nodes: { ask: { queue: 'core', class: 'connect' } },
              inports: { x: { node: 'ask', inport: 'in' } },
              outports: { y: { node: 'ask', outport: 'out' } },
            },
          ],
        },
        left: { __graph: 0 },
      },
      {},
    ),
    row('without a graph it waits for one', { status: 'suspended' }, { give: { __graph: [{}] } }),
    row('values that come before the graph wait', { give: { x: [1] }, status: 'suspended', left: { x: 1 } }),
    row('only the last of several graphs counts, and the earlier ones are not checked', {
      give: { __graph: [null, { nodes: 7 }, { nodes: {} }] },
      left: { __graph: 0 },
    }),
    row('an invalid graph fails, and stays in its port', {
      give: { __graph: [null] },
      error: /the graph: the body: expected an object, got null/,
      left: { __graph: 1 },
    }),
    row('faults of a graph are reported by node and port', {
      give: { __graph: [{ nodes: { sum: { class: 'x', inports: { in: { init: 5 } } } } }] },
      error: /nodes\.sum\.inports\.in\.init: expected a list/,
    }),
    row('an edge must end at an existing node', {
      give: {
        __graph: [
          {
            nodes: { a: { class: 'x' } },
            edges: [{ from: { node: 'a', outport: 'out' }, to: { node: 'b', inport: 'in' } }],
          },
        ],
      },
      error: /edges\[0\]\.to\.node: there is no node "b"/,
    }),
    row('an adopted job must exist', {
      give: { __graph: [{ nodes: { a: { class: 'x', init: 999 } } }] },
      error: /nodes\.a\.init: job 999 does not exist/,
    }),
    rowWith({ args: { graph: { inports: {} } } }, 'the graph can come as an argument', {}),
    rowWith({ args: ['no such graph'] }, 'the name of a graph that is not stored yet: it waits', {
      status: 'suspended',
    }),
  ],

  groups_of: [
    row('more than 1 MiB of fill fails before it is built', {
      give: { in: [[1]], size: [100_000], fill: ['x'.repeat(100)] },
      error: /at most 1048576 bytes and 100000 elements, got at least 10299897 bytes/,
    }),
    row('the last group may be short', {
      give: { size: [3], in: [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]] },
      out: [[[1, 2, 3], [4, 5, 6], [7, 8, 9], [10]]],
    }),
    row('fills up the last group', {
      give: { size: [3, 3, 3], fill: [null, true, 0], in: [[1, 2, 3, 4], [1], []] },
      out: [
        [
          [1, 2, 3],
          [4, null, null],
        ],
        [[1, true, true]],
        [],
      ],
    }),
    row('fills up nothing when the groups are full', {
      give: { size: [2], fill: ['x'], in: [[1, 2, 3, 4]] },
      out: [
        [
          [1, 2],
          [3, 4],
        ],
      ],
    }),
    row('a size serves one list', {
      give: { size: [2], in: [[1], [2]] },
      out: [[[1]]],
      status: 'suspended',
      left: { in: 1 },
    }),
    row('a fraction is cut off', { give: { size: [2.9], in: [[1, 2, 3]] }, out: [[[1, 2], [3]]] }),
    rowWith({ in: { size: { default: 5 } } }, 'a default size serves all', {
      give: { in: [[1], []] },
      out: [[[1]], []],
    }),
    row('a size below 1 fails', { give: { size: [0], in: [[1]] }, error: /port "size" .*positive number/ }),
    row('a size must be a number', { give: { size: ['3'], in: [[1]] }, error: /port "size" .*positive number/ }),
  ],

  join: [
    row('a text of more than 1 MiB fails before it is built', {
      give: { sep: ['-'.repeat(1_000)], in: [Array(300_000).fill(1)] },
      error: /at most 1048576 bytes and 100000 elements, got at least 300299000 bytes/,
    }),
    row('joins with commas', { give: { in: [['hello', 'world', 1, 2, 3]] }, out: ['hello,world,1,2,3'] }),
    row('joins with a separator', { give: { sep: ['\t'], in: [['a', 'b']] }, out: ['a\tb'] }),
    row('null is nothing, true and 1.5 are text', {
      give: { in: [['a', null, true, 1.5, false]] },
      out: ['a,,true,1.5,false'],
    }),
    row('lists within are joined likewise', { give: { sep: ['-'], in: [[1, [2, [3]]]] }, out: ['1-2-3'] }),
    row('objects are JSON', { give: { in: [[{ a: [1, null] }]] }, out: ['{"a":[1,null]}'] }),
    row('a separator serves one list, further ones wait', {
      give: {
        sep: ['-', '+', '*'],
        in: [
          [1, 2],
          [3, 4],
        ],
      },
      out: ['1-2', '3+4'],
      status: 'suspended',
      left: { sep: 1 },
    }),
    row('nothing is empty text', { give: { in: [[]] }, out: [''] }),
    row('a separator must be a text', { give: { sep: [null], in: [[1]] }, error: /port "sep" .*expected string/ }),
    row('a value other than a list fails', { give: { in: ['text'] }, error: /port "in" .*expected array/ }),
  ],

  key_value: [
    rowWith({ out: ports('key1', 'key2') }, 'writes to existing ports', {
      give: { in: [{ key1: [1, 2], key2: 3, key3: true }] },
      out: { key1: [[1, 2]], key2: [3] },
    }),
    rowWith({ out: ports('a') }, 'null is a value', { give: { in: [{ a: null }, { b: 1 }] }, out: { a: [null] } }),
    row('makes no ports', { give: { in: [{ a: 1 }] }, left: { in: 0 } }),
    rowWith({ out: ports('a', 'b') }, 'keeps the order of the values', {
      give: { in: [{ a: 1, b: 2 }, { a: 3 }] },
      out: { a: [1, 3], b: [2] },
    }),
    rowWith({ out: ports('a', 'b'), in: { in: { default: { a: 1, c: 2 } } } }, 'a default becomes defaults', {
      outDefaults: { a: 1 },
    }),
    rowWith({ out: ports('constructor') }, 'a port may be called constructor', {
      give: { in: [{ constructor: 1 }, {}] },
      out: { constructor: [1] },
    }),
    rowWith({ out: ports('a') }, 'a value other than an object fails', {
      give: { in: [[['a', 1]]] },
      error: /port "in" .*expected record/,
    }),
  ],

  map: [
    row(
      'hands out the elements, and makes a list of the results',
      { give: { in: [[1, 2, 3]], each: ['a'] }, out: { each: [1, 2, 3] }, status: 'suspended', left: { each: 0 } },
      { give: { each: ['b', 'c'] }, out: [['a', 'b', 'c']] },
    ),
    rowWith({ in: { each: { default: 'xyz' } } }, 'a default comes back for each', {
      give: { in: [[1, 2, 3]] },
      out: { each: [1, 2, 3], out: [['xyz', 'xyz', 'xyz']] },
    }),
    row('hands out the entries of an object, and extra values wait', {
      give: { in: [{ abc: 123, xyz: 456 }], each: ['a', 'b', 'c'] },
      out: {
        each: [
          ['abc', 123],
          ['xyz', 456],
        ],
        out: [['a', 'b']],
      },
      left: { each: 1 },
    }),
    row('takes one list after the other', {
      give: { in: [[1, 2], [3]], each: ['a', 'b', 'c'] },
      out: { each: [1, 2, 3], out: [['a', 'b'], ['c']] },
    }),
    row(
      'gives the next list only when the one before has come back',
      {
        give: { in: [[1], [2]] },
        out: { each: [1] },
        status: 'suspended',
        left: { in: 1 },
      },
      { give: { each: ['a'] }, out: { each: [2], out: [['a']] }, status: 'suspended' },
      { give: { each: ['b'] }, out: [['b']] },
    ),
    row('an empty value comes back immediately', { give: { in: [[], {}] }, out: [[], []] }),
    row('null comes back as null', { give: { in: [[1]], each: [null] }, out: { each: [1], out: [[null]] } }),
    row('without a list it reads nothing', { give: { each: [1] }, left: { each: 1 } }),
    rowWith({ in: { in: { default: [1] } } }, 'a default list fails', { error: /cannot have a default/ }),
    row('a scalar fails', { give: { in: [1] }, error: /port "in" .*a list or an object/ }),
  ],

  merge: [
    rowWith({ in: ports('in1', 'in2') }, 'for a common key the last port counts', {
      give: { in1: [{ key1: 'val1', common: 'x' }], in2: [{ key2: 'val2', common: 'y' }] },
      out: [{ key1: 'val1', key2: 'val2', common: 'y' }],
    }),
    rowWith({ in: { in1: { default: { key1: 'val3', common: 'x' } }, in2: {} } }, 'a default is merged with each', {
      give: { in2: [{ key2: 1 }, { common: 'y' }] },
      out: [
        { key1: 'val3', common: 'x', key2: 1 },
        { key1: 'val3', common: 'y' },
      ],
    }),
    rowWith({ in: ports('b', 'a') }, 'orders by names', {
      give: { b: [{ k: 1 }], a: [{ k: 2 }] },
      out: [{ k: 1 }],
    }),
    rowWith({ in: ports('a', 'b') }, 'objects within are replaced', {
      give: { a: [{ o: { x: 1 } }], b: [{ o: { y: 2 } }] },
      out: [{ o: { y: 2 } }],
    }),
    rowWith({ in: ports('a', 'b') }, 'values without a partner wait', {
      give: { a: [{}] },
      status: 'suspended',
      left: { a: 1 },
    }),
    rowWith({ in: { a: { default: { x: 1 } } } }, 'defaults alone become the default of out', {
      outDefaults: { out: { x: 1 } },
    }),
    rowWith({ in: ports('a', 'b') }, 'a value other than an object fails', {
      give: { a: [{}], b: [null] },
      error: /port "b" .*expected record/,
    }),
  ],

  object: [
    rowWith(
      { in: ports('key1', 'key2') },
      'waits until every port has a value',
      { give: { key1: [[1, 2]] }, status: 'suspended' },
      { give: { key2: [true] }, out: [{ key1: [1, 2], key2: true }] },
    ),
    rowWith({ in: { x: {}, y: { default: null } } }, 'null as a default counts', {
      give: { x: [1] },
      out: [{ x: 1, y: null }],
    }),
    rowWith({ in: ports('a', 'b') }, 'continues while all have values', {
      give: { a: [1, 2], b: [3, 4, 5] },
      out: [
        { a: 1, b: 3 },
        { a: 2, b: 4 },
      ],
      status: 'suspended',
      left: { b: 1 },
    }),
    rowWith({ in: { a: { default: 1 }, b: { default: 2 } } }, 'defaults alone become the default of out', {
      outDefaults: { out: { a: 1, b: 2 } },
    }),
    rowWith({ in: { a: { default: 1 }, b: { default: 2 } } }, 'after values, the defaults alone as well', {
      give: { a: [10, 11] },
      out: [
        { a: 10, b: 2 },
        { a: 11, b: 2 },
      ],
      outDefaults: { out: { a: 1, b: 2 } },
    }),
    row('a port may be called constructor', { give: { constructor: [1] }, out: [{ constructor: 1 }] }),
    row('without ports it gives nothing', {}),
    noSuchName,
  ],

  permutation: [
    row('combinations', {
      give: { n: [2], in: [[1, 2, 3, 4]] },
      out: [
        [
          [1, 2],
          [1, 3],
          [1, 4],
          [2, 3],
          [2, 4],
          [3, 4],
        ],
      ],
    }),
    row('combinations with repetition', {
      give: { n: [2], repeat: [true], in: [[1, 2, 3]] },
      out: [
        [
          [1, 1],
          [1, 2],
          [1, 3],
          [2, 2],
          [2, 3],
          [3, 3],
        ],
      ],
    }),
    row('permutations', {
      give: { n: [2], ordered: [true], in: [[1, 2, 3]] },
      out: [
        [
          [1, 2],
          [1, 3],
          [2, 1],
          [2, 3],
          [3, 1],
          [3, 2],
        ],
      ],
    }),
    row('permutations with repetition', {
      give: { n: [2], ordered: [true], repeat: [true], in: [[1, 2]] },
      out: [
        [
          [1, 1],
          [1, 2],
          [2, 1],
          [2, 2],
        ],
      ],
    }),
    row('only true means true', {
      give: { n: [2], ordered: ['true'], repeat: [1], in: [['a', 'b']] },
      out: [[['a', 'b']]],
    }),
    row('equal elements count as different', { give: { n: [1], in: [[7, 7]] }, out: [[[7], [7]]] }),
    rowWith({ in: { in: { default: [1, 2] } } }, 'zero elements have one permutation; out of range there is none', {
      give: { n: [0, 3, -1] },
      out: [[[]], [], []],
    }),
    row('lists with more than 100,000 elements fail', {
      give: { n: [10], ordered: [true], in: [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]] },
      error: /at most 1048576 bytes and 100000 elements, got 100010 elements/,
    }),
    row('long lists with repetition fail early', {
      give: { n: [100], repeat: [true], ordered: [true], in: [[0, 1]] },
      error: /100000 elements, got 100100 elements/,
    }),
    row('n must be a number', { give: { n: ['2'], in: [[1]] }, error: /port "n" .*expected number/ }),
  ],

  placeholder: [
    row('does nothing', {}),
    row('keeps its input', { give: { a: [1, 2] }, left: { a: 2 } }),
    row('keeps later values', { give: { a: [1] }, left: { a: 1 } }, { give: { a: [2], b: [3] }, left: { a: 2, b: 1 } }),
    rowWith({ in: { a: { default: 1 } }, out: { b: { default: 2 } } }, 'copies no defaults', { outDefaults: { b: 2 } }),
    rowWith({ args: { a: 1 } }, 'takes any arguments', {}),
    rowWith({ in: ports('a'), out: ports('b') }, 'gives nothing', { give: { a: [null] }, left: { a: 1 } }),
    noSuchName,
  ],

  product: [
    row('the first list varies slowest', {
      give: {
        in: [
          [
            [1, 2],
            [true, false],
          ],
        ],
      },
      out: [
        [
          [1, true],
          [1, false],
          [2, true],
          [2, false],
        ],
      ],
    }),
    row('one list gives its elements', { give: { in: [[[1, 2]]] }, out: [[[1], [2]]] }),
    row('of three lists', {
      give: { in: [[[1, 2], ['a'], [null]]] },
      out: [
        [
          [1, 'a', null],
          [2, 'a', null],
        ],
      ],
    }),
    row('an empty list leaves nothing', { give: { in: [[[1, 2], []], [[]]] }, out: [[], []] }),
    row('elements keep their form', { give: { in: [[[[1]], [{ a: 1 }]]] }, out: [[[[1], { a: 1 }]]] }),
    rowWith({ in: { in: { default: [[1], [2]] } } }, 'a default becomes the default', {
      outDefaults: { out: [[1, 2]] },
    }),
    row('no list fails', { give: { in: [[]] }, error: /port "in" .*at least one list/ }),
    row('a value other than a list of lists fails', { give: { in: [[1]] }, error: /port "in" .*expected array/ }),
    row('lists with more than 100,000 elements fail before they are built', {
      give: { in: [[...Array(14).fill([0, 1]), ...Array(200).fill([1])]] },
      error: /at most 1048576 bytes and 100000 elements, got 3506176 elements/,
    }),
    row('lists of long texts fail before they are built', {
      give: { in: [Array(10).fill(['x'.repeat(1_000), 'y'])] },
      error: /at most 1048576 bytes and 100000 elements, got at least \d+ bytes/,
    }),
  ],

  repeat: [
    row('copies of more than 1 MiB fail before they are made', {
      give: { times: [100_000], in: ['x'.repeat(1_500)] },
      error: /at most 1048576 bytes and 100000 elements, got at least 150300000 bytes/,
    }),
    row('makes copies', { give: { times: [4], in: [5] }, out: [[5, 5, 5, 5]] }),
    row('a fraction is cut off', { give: { times: [2.9], in: ['a'] }, out: [['a', 'a']] }),
    row('no copy', { give: { times: [0], in: ['a'] }, out: [[]] }),
    row('of anything', { give: { times: [2, 1], in: [{ a: [1] }, null] }, out: [[{ a: [1] }, { a: [1] }], [null]] }),
    row('one number serves one value', {
      give: { times: [1], in: [1, 2] },
      out: [[1]],
      status: 'suspended',
      left: { in: 1 },
    }),
    rowWith({ in: { times: { default: 2 } } }, 'a default serves all', {
      give: { in: [1, 2] },
      out: [
        [1, 1],
        [2, 2],
      ],
    }),
    row('a negative number fails', { give: { times: [-1], in: [1] }, error: /port "times" / }),
    row('text fails', { give: { times: ['2'], in: [1] }, error: /port "times" .*expected number/ }),
    row('null fails', { give: { times: [null], in: [1] }, error: /port "times" .*expected number/ }),
  ],

  set_default: [
    row('the last value becomes the default', { give: { in: [0, 1, 2] }, outDefaults: { out: 2 }, left: { in: 0 } }),
    rowWith({ in: { in: { default: 1234 } } }, 'a default goes before, and the values are gone', {
      give: { in: [6, 7] },
      outDefaults: { out: 1234 },
      left: { in: 0 },
    }),
    row(
      'follows later values',
      { give: { in: [true] }, outDefaults: { out: true } },
      { give: { in: [false] }, outDefaults: { out: false } },
      { give: { in: [null] }, outDefaults: { out: null } },
      { give: { in: ['abc'] }, outDefaults: { out: 'abc' } },
    ),
    rowWith({ in: { in: { default: null } } }, 'null as a default counts', {
      give: { in: [1] },
      outDefaults: { out: null },
    }),
    rowWith({ out: { out: { default: 1 } } }, 'nothing changes nothing', { outDefaults: { out: 1 } }),
    row('a default that comes later counts', { outDefaults: {} }, { defaults: { in: 5 }, outDefaults: { out: 5 } }),
    noSuchPort,
  ],

  split: [
    row('splits at commas', { give: { in: ['1,2,3,4'] }, out: [['1', '2', '3', '4']] }),
    row('splits at the separator', { give: { sep: ['-'], in: ['1-2-3-4'] }, out: [['1', '2', '3', '4']] }),
    row('drops empty parts at the end only', { give: { in: [',a,,b,,'] }, out: [['', 'a', '', 'b']] }),
    row('nothing has no pieces', { give: { in: ['', ',,'] }, out: [[], []] }),
    row('an empty separator splits into characters', { give: { sep: [''], in: ['añ😀'] }, out: [['a', 'ñ', '😀']] }),
    row('a blank splits at white space of any length', {
      give: { sep: [' '], in: ['  now  is\tthe \n time '] },
      out: [['now', 'is', 'the', 'time']],
    }),
    row('the separator is not a pattern', {
      give: { sep: ['.', '$1'], in: ['a.b', 'a$1b'] },
      out: [
        ['a', 'b'],
        ['a', 'b'],
      ],
    }),
    row('a value other than text fails', { give: { in: [5] }, error: /port "in" .*expected string/ }),
    row('a separator must be a text', { give: { sep: [null], in: ['a'] }, error: /port "sep" .*expected string/ }),
  ],

  wait: [
    row('one value passes for each trigger, of any content', {
      give: { trigger: [null, false], in: [123, 456] },
      out: [123, 456],
    }),
    row(
      'a value waits for its trigger',
      { give: { in: ['a', 'b'] }, status: 'suspended' },
      {
        give: { trigger: [1] },
        out: ['a'],
        status: 'suspended',
        left: { in: 1 },
      },
    ),
    row(
      'a trigger waits for its value',
      { give: { trigger: [1, 2] }, status: 'suspended', left: { trigger: 2 } },
      {
        give: { in: ['a', 'b'] },
        out: ['a', 'b'],
      },
    ),
    rowWith({ in: { in: { default: 'd' } } }, 'a default passes for each trigger', {
      give: { trigger: [1, 2] },
      out: ['d', 'd'],
    }),
    rowWith({ in: { trigger: { default: 0 } } }, 'with a default trigger everything passes', {
      give: { in: [1, 2] },
      out: [1, 2],
    }),
    rowWith({ in: { in: { default: 'd' }, trigger: { default: 0 } } }, 'defaults alone become the default', {
      outDefaults: { out: 'd' },
    }),
    row('returns nothing for nothing', {}),
    noSuchPort,
  ],

  wait_each: [
    row(
      'a list waits for each of its elements, as often as it is in it',
      { give: { in: [[1, 1, 2, 2]], each: [1, 2] }, status: 'suspended' },
      { give: { each: [1, 2] }, out: [[1, 1, 2, 2]] },
    ),
    row(
      'extra values are kept for the next list',
      { give: { in: [[1, 2]], each: [1, 2, 2, 3] }, out: [[1, 2]] },
      { give: { in: [[3, 2]] }, out: [[3, 2]] },
    ),
    row('the order of the elements, and of keys, does not matter', {
      give: { in: [[{ a: 1, b: [2, { c: 3, d: 4 }] }, 'x']], each: ['x', { b: [2, { d: 4, c: 3 }], a: 1.0 }] },
      out: [[{ a: 1, b: [2, { c: 3, d: 4 }] }, 'x']],
    }),
    row('similar values are not equal', {
      give: { in: [[{ a: 1 }, 1, null]], each: [[['a', 1]], '1', 'null'] },
      status: 'suspended',
    }),
    row(
      'without a list it reads nothing',
      { give: { each: [1] }, left: { each: 1 } },
      { give: { in: [[1]] }, out: [[1]] },
    ),
    row('an empty list waits for nothing', { give: { in: [[], [], [1]] }, out: [[], []], status: 'suspended' }),
    rowWith(
      { in: { in: { default: [] } } },
      'an empty default passes once',
      { out: [[]] },
      {},
      { give: { each: [1] } },
    ),
    rowWith(
      { in: { in: { default: [1, 2] } } },
      'a default waits again each time',
      { status: 'suspended' },
      { give: { each: [1, 2, 2] }, out: [[1, 2]], status: 'suspended' },
      { give: { each: [1] }, out: [[1, 2]], status: 'suspended' },
    ),
    rowWith({ in: { in: { default: [] } } }, 'lists go before an empty default', {
      give: { in: [[1]], each: [1] },
      out: [[1], []],
    }),
    row('a value other than a list fails', { give: { in: [{}] }, error: /port "in" .*expected array/ }),
  ],

  widget: [
    row('waits', { status: 'suspended' }),
    row('keeps its input', { give: { a: [1, 2] }, status: 'suspended', left: { a: 2 } }),
    row(
      'waits again',
      { give: { a: [1] }, status: 'suspended' },
      { give: { b: [2] }, status: 'suspended', left: { a: 1, b: 1 } },
    ),
    rowWith({ args: ['name'] }, 'takes the name of its replacement', { status: 'suspended' }),
    rowWith({ in: { a: { default: 1 } }, out: { b: { default: 2 } } }, 'copies no defaults', {
      status: 'suspended',
      outDefaults: { b: 2 },
    }),
    rowWith({ in: ports('a'), out: ports('b') }, 'gives nothing', {
      give: { a: [null] },
      status: 'suspended',
      left: { a: 1 },
    }),
    noSuchName,
  ],

  zip: [
    row('more than 1 MiB of cells fails before it is built', {
      give: { in: [[Array(10_000).fill(1), ...Array(1_000).fill([])]] },
      error: /at most 1048576 bytes and 100000 elements, got at least 20020000 bytes/,
    }),
    row('turns lists into lists of their elements', {
      give: {
        in: [
          [
            [1, 2],
            [true, false],
            [{ key1: 'val1' }, { key1: 'val2' }],
          ],
        ],
      },
      out: [
        [
          [1, true, { key1: 'val1' }],
          [2, false, { key1: 'val2' }],
        ],
      ],
    }),
    row('a missing value is null', {
      give: { in: [[[1, 2, 3], ['a']]] },
      out: [
        [
          [1, 'a'],
          [2, null],
          [3, null],
        ],
      ],
    }),
    row('extra values are dropped', { give: { in: [[[1], ['a', 'b']]] }, out: [[[1, 'a']]] }),
    row('one list gives lists of one', { give: { in: [[[1, 2]]] }, out: [[[1], [2]]] }),
    row('an empty first list leaves nothing', { give: { in: [[[], [1]]] }, out: [[]] }),
    rowWith({ in: { in: { default: [[1], [2]] } } }, 'a default becomes the default', {
      outDefaults: { out: [[1, 2]] },
    }),
    row('no list fails', { give: { in: [[]] }, error: /port "in" .*at least one list/ }),
    row('a value other than a list of lists fails', { give: { in: [[[1], 2]] }, error: /port "in" .*expected array/ }),
  ],
}
