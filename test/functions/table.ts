// Test cases of the standard library. run.test.ts runs them in Redis, and call.test.ts runs them in memory.

import type { Status } from '../../src/core/job.ts'

type Ports = Record<string, { default?: unknown }>

export type Step = {
  /** Moves the clock by this duration before the step. Requests no run. */
  after?: string
  defaults?: Record<string, unknown>
  give?: Record<string, unknown[]>
  /** Expected values by output port (default: none). A list contains values of the port `out`. */
  out?: unknown[] | Record<string, unknown[]>
  /** Default: unchanged. */
  outDefaults?: Record<string, unknown>
  left?: Record<string, number>
  /** Default: completed, or failed with an error. */
  status?: Status
  error?: RegExp
  refused?: RegExp
}

export type Row = {
  /** A sentence in docs/functions.md. */
  name: string
  /** docs/functions.md omits this row, because the page already states it as a rule or at a port. */
  isRule?: boolean
  with: { in?: Ports; out?: Ports; args?: unknown }
  steps: Step[]
}

const row = (name: string, ...steps: Step[]): Row => ({ name, with: {}, steps })
const rowWith = (made: Row['with'], name: string, ...steps: Step[]): Row => ({ name, with: made, steps })
const rule = (name: string, ...steps: Step[]): Row => ({ ...row(name, ...steps), isRule: true })
const ruleWith = (made: Row['with'], name: string, ...steps: Step[]): Row => ({ ...rule(name, ...steps), with: made })

const ports = (...names: string[]): Ports => Object.fromEntries(names.map((name) => [name, {}]))

const noSuchName = rule('a port name has only letters, digits and _', {
  give: { 'not-a-name': [1] },
  refused: /port name/,
})

const noSuchPort = rule('a write to any other port is refused', {
  give: { elsewhere: [1] },
  refused: /has no input port "elsewhere"/,
})

export const table: Record<string, Row[]> = {
  array: [
    ruleWith(
      { in: ports('val1', 'val2') },
      'waits until every port has a value',
      { give: { val1: [[1, 2]] }, status: 'suspended', left: { val1: 1 } },
      { give: { val2: [true] }, out: [[[1, 2], true]], left: { val1: 0, val2: 0 } },
    ),
    ruleWith({ in: { a: { default: 0 }, b: {} } }, 'a default counts as a value', {
      give: { b: [1, 2] },
      out: [
        [0, 1],
        [0, 2],
      ],
    }),
    ruleWith({ in: ports('val10', 'val2', 'Val', '_v', '9') }, 'port names are ordered byte by byte', {
      give: { val10: [1], val2: [2], Val: [3], _v: [4], 9: [5] },
      out: [[5, 3, 4, 1, 2]],
    }),
    ruleWith(
      { in: { a: { default: 1 }, b: { default: null } } },
      'defaults alone become the default of `out`, once',
      { outDefaults: { out: [1, null] } },
      {},
      { defaults: { a: 2 }, outDefaults: { out: [2, null] } },
    ),
    rule('the first value creates its port', { give: { any: [false, null] }, out: [[false], [null]] }),
    rule('without ports, nothing is written', {}),
    noSuchName,
  ],

  concat: [
    ruleWith({ in: ports('in1', 'in2') }, 'joins one list of each port at a time', {
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
    ruleWith({ in: ports('in1', 'in2') }, 'a value waits until the other port has one', {
      give: { in1: [[1]], in2: [[2], [3]] },
      out: [[1, 2]],
      status: 'suspended',
      left: { in2: 1 },
    }),
    ruleWith({ in: ports('b', 'a') }, 'port names set the order', { give: { b: [[1]], a: [[2]] }, out: [[2, 1]] }),
    ruleWith({ in: { a: { default: [0] }, b: {} } }, 'a default counts as a value', {
      give: { b: [[1]] },
      out: [[0, 1]],
    }),
    rowWith({ in: ports('a', 'b') }, 'nested lists stay nested', { give: { a: [[[1]]], b: [[]] }, out: [[[1]]] }),
    rule('without ports, nothing is written', {}),
    ruleWith(
      { in: ports('a', 'b') },
      'a value of another type fails the job, and stays in its port',
      { give: { a: [[1]], b: ['x'] }, error: /port "b" .*expected a list/, left: { a: 1, b: 1 } },
      { give: { a: [[2]] }, error: /port "b"/, left: { a: 2, b: 1 } },
    ),
  ],

  connect: [
    rule('moves values in order', {
      give: { in: [{ test: 123 }, { test2: 456 }] },
      out: [{ test: 123 }, { test2: 456 }],
      left: { in: 0 },
    }),
    ruleWith({ in: { in: { default: [1, 2, 3] } } }, 'copies the default', { outDefaults: { out: [1, 2, 3] } }),
    ruleWith({ in: { in: { default: 9 } } }, 'moves values and copies the default', {
      give: { in: [1, 2] },
      out: [1, 2],
      outDefaults: { out: 9 },
    }),
    rowWith({ out: { out: { default: 5 } } }, 'if `in` has no default, the default of `out` stays unchanged', {
      give: { in: [1] },
      out: [1],
      outDefaults: { out: 5 },
    }),
    rule('null and false are values', { give: { in: [null, false, 0, ''] }, out: [null, false, 0, ''] }),
    rule('all of 7,000 waiting values are moved', { give: { in: Array(7_000).fill(1) }, out: Array(7_000).fill(1) }),
    rule(
      'values that arrive later are moved too',
      { give: { in: [1] }, out: [1] },
      {},
      { give: { in: [2, 3] }, out: [2, 3] },
    ),
    rule('without input, nothing is written', {}),
    noSuchPort,
  ],

  delay: [
    rule(
      'delays a value by a number of seconds',
      { give: { delay: [10], in: ['a'] }, status: 'queued' },
      { after: '5s', status: 'queued' },
      { after: '5s', out: ['a'] },
    ),
    rowWith(
      { in: { delay: { default: 10 } } },
      'a default of `delay` applies to every value',
      { give: { in: [1] }, status: 'queued' },
      { after: '5s', give: { in: [2] }, status: 'queued' },
      { after: '5s', out: [1], status: 'queued' },
      { after: '5s', out: [2] },
    ),
    row(
      'a value with a shorter delay can overtake an earlier value',
      { give: { delay: [20, 10], in: ['a', 'b'] }, status: 'queued' },
      { after: '20s', out: ['b', 'a'] },
    ),
    row(
      'values due at the same time keep their order',
      { give: { delay: [10, 10, 10], in: [3, 1, 2] }, status: 'queued' },
      { after: '1m', out: [3, 1, 2] },
    ),
    row('a delay of 0 or less passes the value on in the same run', {
      give: { delay: [0, -5], in: [1, 2] },
      out: [2, 1],
    }),
    rule(
      'a value without a delay stays in its port, also while other values become due',
      { give: { delay: [10], in: [1, 2] }, left: { in: 1 }, status: 'queued' },
      { after: '10s', out: [1], left: { in: 1 }, status: 'suspended' },
      { give: { delay: [0] }, out: [2] },
    ),
    row(
      'other runs of the job do not change the delay of a value',
      { give: { delay: [100], in: ['a'] }, status: 'queued' },
      { status: 'queued' },
      { after: '50s', status: 'queued' },
      { give: { delay: [0], in: ['b'] }, out: ['b'], status: 'queued' },
      { after: '50s', out: ['a'] },
      { after: '100s' },
    ),
    rowWith(
      { in: { delay: { default: 10 }, in: { default: 'a' } } },
      'if both ports have a default, the default of `in` is passed on once',
      { status: 'queued' },
      { after: '10s', out: ['a'] },
      {},
    ),
    rule('a delay must be a number', {
      give: { delay: ['10'], in: [1] },
      error: /port "delay" .*expected a number/,
      left: { in: 1 },
    }),
    rule('a delay of more than 100 years fails the job', { give: { delay: [1e300], in: [1] }, error: /port "delay"/ }),
  ],

  each: [
    rule('writes the elements one by one', { give: { in: [[0, 1, 2, 3, 4]] }, out: [0, 1, 2, 3, 4] }),
    rule('writes the entries of an object', {
      give: { in: [{ key1: 1, key2: null }] },
      out: [
        ['key1', 1],
        ['key2', null],
      ],
    }),
    row('nested lists and objects stay unchanged', { give: { in: [[[1, [2]], {}]] }, out: [[1, [2]], {}] }),
    row('for an empty list or object, nothing is written', { give: { in: [[], {}] }, left: { in: 0 } }),
    rule('keeps the order of several lists', { give: { in: [[1, 2], [3]] }, out: [1, 2, 3] }),
    rowWith(
      { in: { in: { default: [1, 2] } } },
      'if `in` has a default, its last element becomes the default of `out`',
      { outDefaults: { out: 2 } },
      {},
    ),
    rule('a number fails the job', { give: { in: [5] }, error: /port "in" .*a list or an object/ }),
    rule('null fails the job', { give: { in: [null] }, error: /a list or an object/ }),
  ],

  filter: [
    rowWith({ in: { filter: { default: '.[] | select(. > 1)' } } }, 'a filter can return several values, or none', {
      give: { in: [[1, 2, 3], [], [0], [9]] },
      out: [2, 3, 9],
    }),
    rowWith({ in: { filter: { default: '.' } } }, 'the filter `.` returns each value unchanged', {
      give: { in: [null, true, false, 8, 'text', [1, { a: [] }], { b: null }] },
      out: [null, true, false, 8, 'text', [1, { a: [] }], { b: null }],
    }),
    row('each value can have its own filter', {
      give: { filter: ['.foo', '.bar', '"\\(.bar) world: \\(.foo+1)"'], in: Array(3).fill({ foo: 42, bar: 'hello' }) },
      out: [42, 'hello', 'hello world: 43'],
    }),
    row('a filter can define functions, and can end with a comment', {
      give: { filter: ['def twice: . * 2; map(twice) # all of them'], in: [[1, 2]] },
      out: [[2, 4]],
    }),
    row('a filter cannot read environment variables: `env` and `$ENV` are empty', {
      give: { filter: ['[env, $ENV, env.PATH, $ENV.HOME]'], in: [null] },
      out: [[{}, {}, null, null]],
    }),
    rule('a filter is never read as an option of jq', {
      give: { filter: ['-1', '--version'], in: [5, 5] },
      error: /version/,
    }),
    rule('waits for a filter', { give: { in: [1] }, status: 'suspended' }, { give: { filter: ['. + 1'] }, out: [2] }),
    rule('numbers are doubles', {
      give: { filter: ['.', '. + 0.2'], in: [9007199254740993n, 0.1] },
      out: [9007199254740992, 0.30000000000000004],
    }),
    row('a syntax error fails the job', {
      give: { filter: ['syntax error'], in: [1] },
      error: /the filter failed: .*syntax error/s,
    }),
    row('if a filter fails, its earlier results are not written', {
      give: { filter: ['1, 2, error("no")'], in: [null] },
      error: /the filter failed: .*no/s,
      left: { in: 1 },
    }),
    row('more than 10,000 results for one value fail the job', {
      give: { filter: ['range(10001)'], in: [null] },
      error: /more than 10000 values/,
    }),
    row('results of more than 1 MiB for one value fail the job', {
      give: { filter: ['"x" * 1100000'], in: [null] },
      error: /more than 1048576 bytes/,
    }),
    rule('a filter must be a string', {
      give: { filter: [null], in: [1] },
      error: /port "filter" .*expected a string/,
    }),
  ],

  flatten: [
    row('without a level, all nested lists are flattened', {
      give: { in: [[1, 2, [3, 4, [5, 6]]]] },
      out: [[1, 2, 3, 4, 5, 6]],
    }),
    row('a fraction in `level` is cut off: 2.9 flattens 2 levels', {
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
    row('level 0 changes nothing, and a negative level flattens all levels', {
      give: { in: [[[1, [2]]], [[1, [2]]]], level: [0, -1] },
      out: [[[1, [2]]], [1, 2]],
    }),
    rule('a level that is not a number flattens all levels', {
      give: { in: [[[1, [2]]]], level: ['1'] },
      out: [[1, 2]],
    }),
    row('objects inside a list stay unchanged', {
      give: { in: [[{ a: [1] }, [{ b: 2 }]]] },
      out: [[{ a: [1] }, { b: 2 }]],
    }),
    row('an object becomes a list of its keys and values; without a level, lists inside it stay unchanged', {
      give: { in: [{ a: 1, b: [2] }] },
      out: [['a', 1, 'b', [2]]],
    }),
    rule('a string fails the job', { give: { in: ['text'] }, error: /port "in" .*a list or an object/ }),
  ],

  flow: [
    row(
      'a node without data does not start, so a graph without data completes',
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
    row(
      'without a graph, the flow is suspended until a graph arrives',
      { status: 'suspended' },
      { give: { __graph: [{}] } },
    ),
    row('values that arrive before the graph stay in their ports', {
      give: { x: [1] },
      status: 'suspended',
      left: { x: 1 },
    }),
    row('if several graphs arrive, the last graph counts, and earlier graphs are not checked', {
      give: { __graph: [null, { nodes: 7 }, { nodes: {} }] },
      left: { __graph: 0 },
    }),
    row('an invalid graph fails the flow, and stays in its port', {
      give: { __graph: [null] },
      error: /the graph: the body: expected an object, got null/,
      left: { __graph: 1 },
    }),
    row('the error names the position of the fault in the graph, such as `nodes.sum.inports.in.init`', {
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
      error: /edges\[0\]\.to\.node: the graph has no node "b"/,
    }),
    row('if `init` of a node names a job, that job must exist', {
      give: { __graph: [{ nodes: { a: { class: 'x', init: 999 } } }] },
      error: /nodes\.a\.init: job 999 does not exist/,
    }),
    rowWith({ args: { graph: { inports: {} } } }, 'the args can contain the graph: `{ "graph": { … } }`', {}),
    rowWith(
      { args: ['no such graph'] },
      'the args can name a stored graph: `["nightly"]`; until this graph is stored, the flow is suspended',
      {
        status: 'suspended',
      },
    ),
  ],

  groups_of: [
    row('without `fill`, the last group can be short', {
      give: { size: [3], in: [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]] },
      out: [[[1, 2, 3], [4, 5, 6], [7, 8, 9], [10]]],
    }),
    row('`fill` completes a short group', {
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
    rule('a full group is not filled', {
      give: { size: [2], fill: ['x'], in: [[1, 2, 3, 4]] },
      out: [
        [
          [1, 2],
          [3, 4],
        ],
      ],
    }),
    rule('one size is read for each list', {
      give: { size: [2], in: [[1], [2]] },
      out: [[[1]]],
      status: 'suspended',
      left: { in: 1 },
    }),
    rule('a fraction is cut off', { give: { size: [2.9], in: [[1, 2, 3]] }, out: [[[1, 2], [3]]] }),
    ruleWith({ in: { size: { default: 5 } } }, 'a default of `size` applies to every list', {
      give: { in: [[1], []] },
      out: [[[1]], []],
    }),
    rule('a size below 1 fails the job', {
      give: { size: [0], in: [[1]] },
      error: /port "size" .*a number from 1 to 100000/,
    }),
    rule('a size above 100,000 fails the job', {
      give: { size: [200_000], in: [[1]] },
      error: /port "size" .*a number from 1 to 100000/,
    }),
    rule('a size must be a number', {
      give: { size: ['3'], in: [[1]] },
      error: /port "size" .*a number from 1 to 100000/,
    }),
    rule('a result of more than 1 MiB fails the job before it is built', {
      give: { in: [[1]], size: [100_000], fill: ['x'.repeat(100)] },
      error: /at most 1048576 bytes and 100000 elements, got at least 10299897 bytes/,
    }),
  ],

  join: [
    rule('joins with commas', { give: { in: [['hello', 'world', 1, 2, 3]] }, out: ['hello,world,1,2,3'] }),
    rule('joins with a separator', { give: { sep: ['\t'], in: [['a', 'b']] }, out: ['a\tb'] }),
    row('`null` becomes an empty string; numbers and booleans become strings', {
      give: { in: [['a', null, true, 1.5, false]] },
      out: ['a,,true,1.5,false'],
    }),
    row('nested lists are joined in the same way', { give: { sep: ['-'], in: [[1, [2, [3]]]] }, out: ['1-2-3'] }),
    row('objects become JSON', { give: { in: [[{ a: [1, null] }]] }, out: ['{"a":[1,null]}'] }),
    rule('one separator is read for each list', {
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
    row('an empty list becomes an empty string', { give: { in: [[]] }, out: [''] }),
    rule('a separator must be a string', { give: { sep: [null], in: [[1]] }, error: /port "sep" .*expected a string/ }),
    rule('a value of another type fails the job', { give: { in: ['text'] }, error: /port "in" .*expected a list/ }),
    rule('a result of more than 1 MiB fails the job before it is built', {
      give: { sep: ['-'.repeat(1_000)], in: [Array(300_000).fill(1)] },
      error: /at most 1048576 bytes and 100000 elements, got at least 300299000 bytes/,
    }),
  ],

  key_value: [
    ruleWith({ out: ports('key1', 'key2') }, 'writes to existing ports', {
      give: { in: [{ key1: [1, 2], key2: 3, key3: true }] },
      out: { key1: [[1, 2]], key2: [3] },
    }),
    ruleWith({ out: ports('a') }, 'null is a value', { give: { in: [{ a: null }, { b: 1 }] }, out: { a: [null] } }),
    rule('creates no ports', { give: { in: [{ a: 1 }] }, left: { in: 0 } }),
    ruleWith({ out: ports('a', 'b') }, 'keeps the order of the values', {
      give: { in: [{ a: 1, b: 2 }, { a: 3 }] },
      out: { a: [1, 3], b: [2] },
    }),
    rowWith(
      { out: ports('a', 'b'), in: { in: { default: { a: 1, c: 2 } } } },
      'a default of `in` becomes the defaults of the output ports',
      {
        outDefaults: { a: 1 },
      },
    ),
    ruleWith({ out: ports('constructor') }, 'a port can have the name constructor', {
      give: { in: [{ constructor: 1 }, {}] },
      out: { constructor: [1] },
    }),
    ruleWith({ out: ports('a') }, 'a value of another type fails the job', {
      give: { in: [[['a', 1]]] },
      error: /port "in" .*expected an object/,
    }),
  ],

  map: [
    rule(
      'writes the elements, and collects the results',
      { give: { in: [[1, 2, 3]], each: ['a'] }, out: { each: [1, 2, 3] }, status: 'suspended', left: { each: 0 } },
      { give: { each: ['b', 'c'] }, out: [['a', 'b', 'c']] },
    ),
    rowWith({ in: { each: { default: 'xyz' } } }, 'a default of `each` counts as the result of every element', {
      give: { in: [[1, 2, 3]] },
      out: { each: [1, 2, 3], out: [['xyz', 'xyz', 'xyz']] },
    }),
    row('extra results stay in their port for the next list', {
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
    rule('processes several lists in order', {
      give: { in: [[1, 2], [3]], each: ['a', 'b', 'c'] },
      out: { each: [1, 2, 3], out: [['a', 'b'], ['c']] },
    }),
    row(
      'the elements of the next list are written when the current list has all its results',
      {
        give: { in: [[1], [2]] },
        out: { each: [1] },
        status: 'suspended',
        left: { in: 1 },
      },
      { give: { each: ['a'] }, out: { each: [2], out: [['a']] }, status: 'suspended' },
      { give: { each: ['b'] }, out: [['b']] },
    ),
    row('for an empty list or object, `out` immediately receives an empty list', {
      give: { in: [[], {}] },
      out: [[], []],
    }),
    rule('null is a result', { give: { in: [[1]], each: [null] }, out: { each: [1], out: [[null]] } }),
    row('without a list, results stay in their port', { give: { each: [1] }, left: { each: 1 } }),
    rowWith({ in: { in: { default: [1] } } }, 'the job fails if `in` has a default', {
      error: /cannot have a default/,
    }),
    rule('a number fails the job', { give: { in: [1] }, error: /port "in" .*a list or an object/ }),
  ],

  merge: [
    ruleWith({ in: ports('in1', 'in2') }, 'if several objects have a key, the last port wins', {
      give: { in1: [{ key1: 'val1', common: 'x' }], in2: [{ key2: 'val2', common: 'y' }] },
      out: [{ key1: 'val1', key2: 'val2', common: 'y' }],
    }),
    ruleWith({ in: { in1: { default: { key1: 'val3', common: 'x' } }, in2: {} } }, 'a default counts as a value', {
      give: { in2: [{ key2: 1 }, { common: 'y' }] },
      out: [
        { key1: 'val3', common: 'x', key2: 1 },
        { key1: 'val3', common: 'y' },
      ],
    }),
    ruleWith({ in: ports('b', 'a') }, 'port names set the order', {
      give: { b: [{ k: 1 }], a: [{ k: 2 }] },
      out: [{ k: 1 }],
    }),
    rowWith({ in: ports('a', 'b') }, 'nested objects are replaced, not merged', {
      give: { a: [{ o: { x: 1 } }], b: [{ o: { y: 2 } }] },
      out: [{ o: { y: 2 } }],
    }),
    ruleWith({ in: ports('a', 'b') }, 'a value waits until the other port has one', {
      give: { a: [{}] },
      status: 'suspended',
      left: { a: 1 },
    }),
    ruleWith({ in: { a: { default: { x: 1 } } } }, 'defaults alone become the default of `out`', {
      outDefaults: { out: { x: 1 } },
    }),
    ruleWith({ in: ports('a', 'b') }, 'a value of another type fails the job', {
      give: { a: [{}], b: [null] },
      error: /port "b" .*expected an object/,
    }),
  ],

  object: [
    ruleWith(
      { in: ports('key1', 'key2') },
      'waits until every port has a value',
      { give: { key1: [[1, 2]] }, status: 'suspended' },
      { give: { key2: [true] }, out: [{ key1: [1, 2], key2: true }] },
    ),
    ruleWith({ in: { x: {}, y: { default: null } } }, 'null can be a default', {
      give: { x: [1] },
      out: [{ x: 1, y: null }],
    }),
    ruleWith({ in: ports('a', 'b') }, 'continues while every port has a value', {
      give: { a: [1, 2], b: [3, 4, 5] },
      out: [
        { a: 1, b: 3 },
        { a: 2, b: 4 },
      ],
      status: 'suspended',
      left: { b: 1 },
    }),
    ruleWith({ in: { a: { default: 1 }, b: { default: 2 } } }, 'defaults alone become the default of `out`', {
      outDefaults: { out: { a: 1, b: 2 } },
    }),
    ruleWith(
      { in: { a: { default: 1 }, b: { default: 2 } } },
      'defaults alone become the default of `out`, also after values',
      {
        give: { a: [10, 11] },
        out: [
          { a: 10, b: 2 },
          { a: 11, b: 2 },
        ],
        outDefaults: { out: { a: 1, b: 2 } },
      },
    ),
    rule('a port can have the name constructor', { give: { constructor: [1] }, out: [{ constructor: 1 }] }),
    rule('without ports, nothing is written', {}),
    noSuchName,
  ],

  permutation: [
    row('by default, the order does not matter, and each element is used at most once', {
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
    row('if `repeat` is true, an element can be used several times', {
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
    row('if `ordered` is true, `[1, 2]` and `[2, 1]` are different selections', {
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
    row('if both are true, each order counts, and an element can be used several times', {
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
    rule('any other value than `true` counts as false', {
      give: { n: [2], ordered: ['true'], repeat: [1], in: [['a', 'b']] },
      out: [[['a', 'b']]],
    }),
    row('equal elements count as different elements', { give: { n: [1], in: [[7, 7]] }, out: [[[7], [7]]] }),
    rowWith(
      { in: { in: { default: [1, 2] } } },
      'if `n` is 0, the only selection is the empty list; if `n` is negative or too large, there is no selection',
      {
        give: { n: [0, 3, -1] },
        out: [[[]], [], []],
      },
    ),
    row('selections with more than 100,000 elements in total fail the job', {
      give: { n: [10], ordered: [true], in: [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]] },
      error: /at most 1048576 bytes and 100000 elements, got 100010 elements/,
    }),
    rule('long selections with repetition fail early', {
      give: { n: [100], repeat: [true], ordered: [true], in: [[0, 1]] },
      error: /100000 elements, got 100100 elements/,
    }),
    rule('n must be a number', { give: { n: ['2'], in: [[1]] }, error: /port "n" .*expected a number/ }),
  ],

  placeholder: [
    rule('does nothing', {}),
    rule('keeps its input', { give: { a: [1, 2] }, left: { a: 2 } }),
    rule(
      'keeps later values',
      { give: { a: [1] }, left: { a: 1 } },
      { give: { a: [2], b: [3] }, left: { a: 2, b: 1 } },
    ),
    rowWith({ in: { a: { default: 1 } }, out: { b: { default: 2 } } }, 'defaults are not copied to the output ports', {
      outDefaults: { b: 2 },
    }),
    rowWith({ args: { a: 1 } }, 'any args are accepted', {}),
    ruleWith({ in: ports('a'), out: ports('b') }, 'writes nothing', { give: { a: [null] }, left: { a: 1 } }),
    noSuchName,
  ],

  product: [
    rule('the first list varies slowest', {
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
    row('a single list becomes a list of one-element lists', { give: { in: [[[1, 2]]] }, out: [[[1], [2]]] }),
    rule('combines three lists', {
      give: { in: [[[1, 2], ['a'], [null]]] },
      out: [
        [
          [1, 'a', null],
          [2, 'a', null],
        ],
      ],
    }),
    row('if any list is empty, the result is empty', { give: { in: [[[1, 2], []], [[]]] }, out: [[], []] }),
    row('nested lists and objects stay unchanged', { give: { in: [[[[1]], [{ a: 1 }]]] }, out: [[[[1], { a: 1 }]]] }),
    ruleWith({ in: { in: { default: [[1], [2]] } } }, 'a default becomes the default', {
      outDefaults: { out: [[1, 2]] },
    }),
    rule('an empty list of lists fails the job', { give: { in: [[]] }, error: /port "in" .*at least one list/ }),
    rule('a value of another type fails the job', { give: { in: [[1]] }, error: /port "in" .*expected a list/ }),
    row('selections with more than 100,000 elements in total fail the job', {
      give: { in: [[...Array(14).fill([0, 1]), ...Array(200).fill([1])]] },
      error: /at most 1048576 bytes and 100000 elements, got 3506176 elements/,
    }),
    rule('a result of more than 1 MiB fails the job before it is built', {
      give: { in: [Array(10).fill(['x'.repeat(1_000), 'y'])] },
      error: /at most 1048576 bytes and 100000 elements, got at least \d+ bytes/,
    }),
  ],

  repeat: [
    rule('writes a list of copies', { give: { times: [4], in: [5] }, out: [[5, 5, 5, 5]] }),
    rule('a fraction is cut off', { give: { times: [2.9], in: ['a'] }, out: [['a', 'a']] }),
    rule('zero copies are an empty list', { give: { times: [0], in: ['a'] }, out: [[]] }),
    rule('copies values of any type', {
      give: { times: [2, 1], in: [{ a: [1] }, null] },
      out: [[{ a: [1] }, { a: [1] }], [null]],
    }),
    rule('one number is read for each value', {
      give: { times: [1], in: [1, 2] },
      out: [[1]],
      status: 'suspended',
      left: { in: 1 },
    }),
    ruleWith({ in: { times: { default: 2 } } }, 'a default of `times` applies to every value', {
      give: { in: [1, 2] },
      out: [
        [1, 1],
        [2, 2],
      ],
    }),
    rule('a negative number fails the job', { give: { times: [-1], in: [1] }, error: /port "times" / }),
    rule('a string fails the job', { give: { times: ['2'], in: [1] }, error: /port "times" .*expected a number/ }),
    rule('null fails the job', { give: { times: [null], in: [1] }, error: /port "times" .*expected a number/ }),
    rule('a result of more than 1 MiB fails the job before it is built', {
      give: { times: [100_000], in: ['x'.repeat(1_500)] },
      error: /at most 1048576 bytes and 100000 elements, got at least 150300000 bytes/,
    }),
  ],

  set_default: [
    rule('the last value becomes the default', { give: { in: [0, 1, 2] }, outDefaults: { out: 2 }, left: { in: 0 } }),
    rowWith({ in: { in: { default: 1234 } } }, 'the values of `in` are removed, even if `in` has a default', {
      give: { in: [6, 7] },
      outDefaults: { out: 1234 },
      left: { in: 0 },
    }),
    rule(
      'a later value replaces the default',
      { give: { in: [true] }, outDefaults: { out: true } },
      { give: { in: [false] }, outDefaults: { out: false } },
      { give: { in: [null] }, outDefaults: { out: null } },
      { give: { in: ['abc'] }, outDefaults: { out: 'abc' } },
    ),
    ruleWith({ in: { in: { default: null } } }, 'null can be a default', {
      give: { in: [1] },
      outDefaults: { out: null },
    }),
    rowWith(
      { out: { out: { default: 1 } } },
      'if `in` has neither values nor a default, the default of `out` stays unchanged',
      {
        outDefaults: { out: 1 },
      },
    ),
    rule(
      'a default of `in` that is set later is copied too',
      { outDefaults: {} },
      { defaults: { in: 5 }, outDefaults: { out: 5 } },
    ),
    noSuchPort,
  ],

  split: [
    rule('splits at commas', { give: { in: ['1,2,3,4'] }, out: [['1', '2', '3', '4']] }),
    rule('splits at the separator', { give: { sep: ['-'], in: ['1-2-3-4'] }, out: [['1', '2', '3', '4']] }),
    row('empty parts at the start and in the middle stay', { give: { in: [',a,,b,,'] }, out: [['', 'a', '', 'b']] }),
    row('a string that is empty or has only separators becomes an empty list', {
      give: { in: ['', ',,'] },
      out: [[], []],
    }),
    row('an empty separator splits a string into its characters', {
      give: { sep: [''], in: ['añ😀'] },
      out: [['a', 'ñ', '😀']],
    }),
    row('if the separator is a single space, the string is split at white space of any length', {
      give: { sep: [' '], in: ['  now  is\tthe \n time '] },
      out: [['now', 'is', 'the', 'time']],
    }),
    row('the separator is matched literally, not as a pattern', {
      give: { sep: ['.', '$1'], in: ['a.b', 'a$1b'] },
      out: [
        ['a', 'b'],
        ['a', 'b'],
      ],
    }),
    rule('a number fails the job', { give: { in: [5] }, error: /port "in" .*expected a string/ }),
    rule('a separator must be a string', { give: { sep: [null], in: ['a'] }, error: /port "sep" .*expected a string/ }),
  ],

  wait: [
    row('any value of `trigger` counts, even `null` and `false`', {
      give: { trigger: [null, false], in: [123, 456] },
      out: [123, 456],
    }),
    rule(
      'a value waits for its trigger',
      { give: { in: ['a', 'b'] }, status: 'suspended' },
      {
        give: { trigger: [1] },
        out: ['a'],
        status: 'suspended',
        left: { in: 1 },
      },
    ),
    rule(
      'a trigger waits for its value',
      { give: { trigger: [1, 2] }, status: 'suspended', left: { trigger: 2 } },
      {
        give: { in: ['a', 'b'] },
        out: ['a', 'b'],
      },
    ),
    rowWith({ in: { in: { default: 'd' } } }, 'a default of `in` is passed on once for each trigger', {
      give: { trigger: [1, 2] },
      out: ['d', 'd'],
    }),
    rowWith({ in: { trigger: { default: 0 } } }, 'if `trigger` has a default, every value is passed on immediately', {
      give: { in: [1, 2] },
      out: [1, 2],
    }),
    ruleWith({ in: { in: { default: 'd' }, trigger: { default: 0 } } }, 'defaults alone become the default of `out`', {
      outDefaults: { out: 'd' },
    }),
    rule('without input, nothing is written', {}),
    noSuchPort,
  ],

  wait_each: [
    row(
      'an element that the list contains twice must arrive twice',
      { give: { in: [[1, 1, 2, 2]], each: [1, 2] }, status: 'suspended' },
      { give: { each: [1, 2] }, out: [[1, 1, 2, 2]] },
    ),
    row(
      'extra values are kept for the next list',
      { give: { in: [[1, 2]], each: [1, 2, 2, 3] }, out: [[1, 2]] },
      { give: { in: [[3, 2]] }, out: [[3, 2]] },
    ),
    row('the order of elements and of object keys does not matter', {
      give: { in: [[{ a: 1, b: [2, { c: 3, d: 4 }] }, 'x']], each: ['x', { b: [2, { d: 4, c: 3 }], a: 1.0 }] },
      out: [[{ a: 1, b: [2, { c: 3, d: 4 }] }, 'x']],
    }),
    row('values of different types do not match, such as `1` and `"1"`', {
      give: { in: [[{ a: 1 }, 1, null]], each: [[['a', 1]], '1', 'null'] },
      status: 'suspended',
    }),
    row(
      'without a list, values of `each` stay in their port',
      { give: { each: [1] }, left: { each: 1 } },
      { give: { in: [[1]] }, out: [[1]] },
    ),
    row('an empty list is passed on immediately', { give: { in: [[], [], [1]] }, out: [[], []], status: 'suspended' }),
    rowWith(
      { in: { in: { default: [] } } },
      'an empty list as the default of `in` is passed on once',
      { out: [[]] },
      {},
      { give: { each: [1] } },
    ),
    rowWith(
      { in: { in: { default: [1, 2] } } },
      'any other default of `in` is passed on each time all its elements have arrived',
      { status: 'suspended' },
      { give: { each: [1, 2, 2] }, out: [[1, 2]], status: 'suspended' },
      { give: { each: [1] }, out: [[1, 2]], status: 'suspended' },
    ),
    ruleWith({ in: { in: { default: [] } } }, 'waiting lists pass before an empty default', {
      give: { in: [[1]], each: [1] },
      out: [[1], []],
    }),
    rule('a value of another type fails the job', { give: { in: [{}] }, error: /port "in" .*expected a list/ }),
  ],

  widget: [
    rule('is suspended', { status: 'suspended' }),
    rule('keeps its input', { give: { a: [1, 2] }, status: 'suspended', left: { a: 2 } }),
    rule(
      'is suspended again',
      { give: { a: [1] }, status: 'suspended' },
      { give: { b: [2] }, status: 'suspended', left: { a: 1, b: 1 } },
    ),
    rowWith({ args: ['name'] }, 'any args are accepted', { status: 'suspended' }),
    rowWith({ in: { a: { default: 1 } }, out: { b: { default: 2 } } }, 'defaults are not copied to the output ports', {
      status: 'suspended',
      outDefaults: { b: 2 },
    }),
    ruleWith({ in: ports('a'), out: ports('b') }, 'writes nothing', {
      give: { a: [null] },
      status: 'suspended',
      left: { a: 1 },
    }),
    noSuchName,
  ],

  zip: [
    rule('groups the elements by position', {
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
    row('a missing element becomes `null`', {
      give: { in: [[[1, 2, 3], ['a']]] },
      out: [
        [
          [1, 'a'],
          [2, null],
          [3, null],
        ],
      ],
    }),
    row('extra elements of later lists are dropped', { give: { in: [[[1], ['a', 'b']]] }, out: [[[1, 'a']]] }),
    row('a single list becomes a list of one-element lists', { give: { in: [[[1, 2]]] }, out: [[[1], [2]]] }),
    row('if the first list is empty, the result is empty', { give: { in: [[[], [1]]] }, out: [[]] }),
    ruleWith({ in: { in: { default: [[1], [2]] } } }, 'a default becomes the default', {
      outDefaults: { out: [[1, 2]] },
    }),
    rule('an empty list of lists fails the job', { give: { in: [[]] }, error: /port "in" .*at least one list/ }),
    rule('a value of another type fails the job', { give: { in: [[[1], 2]] }, error: /port "in" .*expected a list/ }),
    rule('a result of more than 1 MiB fails the job before it is built', {
      give: { in: [[Array(10_000).fill(1), ...Array(1_000).fill([])]] },
      error: /at most 1048576 bytes and 100000 elements, got at least 20020000 bytes/,
    }),
  ],
}
