import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { declaredIn, fieldEdits } from '../../infra/lua-build/fields.ts'
import { buildScripts } from '../../infra/lua-build/index.ts'
import { linked, usesIn } from '../../infra/lua-build/modules.ts'
import { Library } from '../../infra/lua-build/scripts.ts'
import { luaFiles, readLua } from '../../infra/lua-build/sources.ts'
import { print, read } from '../../infra/lua-build/syntax.ts'
import { inSources } from '../../src/redis/script.ts'
import * as committed from '../../src/redis/scripts.generated.ts'
import { functionsMade } from '../heavy/bench/functions-made.ts'
import { refusedIn, refusedScripts } from './lua-rules.ts'

const root = join(import.meta.dirname, '../../src/redis/lua')

test('our scripts run on every engine', () => expect(refusedScripts()).toEqual([]))

test('no line of Lua has more than 120 characters', () => {
  const long = luaFiles().flatMap((file) =>
    readLua(file)
      .split('\n')
      .flatMap((line, i) => (line.length > 120 ? [`${file}:${i + 1}`] : [])),
  )
  expect(long).toEqual([])
})

const traps: [what: string, file: string, find: string, replace: string, says: RegExp][] = [
  [
    'a cache by numbers',
    'lib/runtime/numbers.lua',
    'numerals[0 - n] = text',
    'numerals[n] = text',
    /number without a bound/,
  ],
  [
    'a time as an index',
    'lib/run/tokens.lua',
    'local issued = 0',
    'local issued = {}\nlent[minute] = 1',
    /number without a bound/,
  ],
  [
    'a concatenation in the last choice',
    'lib/queue/globs.lua',
    'part = part .. escaped(character)',
    "part = part .. (after and character or '%' .. character)",
    /a concatenation as the last choice/,
  ],
  [
    'a match as the last argument',
    'lib/job/results.lua',
    "tonumber((text:match('^%a+\\n%d+ (%d+)')))",
    "tonumber(text:match('^%a+\\n%d+ (%d+)'))",
    /:match as the last value/,
  ],
  [
    'a find as the last argument',
    'lib/queue/globs.lua',
    '  return parts\nend',
    "  return select(2, glob:find('x'))\nend",
    /:find as the last value/,
  ],
  [
    'unpack of an unbounded list',
    'lib/runtime/cache.lua',
    'unpack(ask, from, math.min(from + 2399, #ask))',
    'unpack(ask)',
    /unpack of a list without a bound/,
  ],
  [
    'several calls assigned at once',
    'lib/run/ops/on_jobs.lua',
    '    id = doc.parent\n    doc = cache.need(id)\n',
    '    id, doc = doc.parent, cache.need(doc.parent)\n',
    /calls, tables or choices among several values/,
  ],
  [
    'a choice of a variable for itself',
    'lib/runtime/tables.lua',
    '  local lines = {}\n',
    "  local lines = {}\n  text = not lines and '' or tostring(text)\n",
    /a choice whose last part reads the variable/,
  ],
  [
    'several tables assigned at once',
    'lib/runtime/journal.lua',
    'local was_in = {}\nlocal was_key = {}\n',
    'local was_in, was_key\nwas_in, was_key = {}, {}\n',
    /calls, tables or choices among several values/,
  ],
  [
    'returns of unequal length',
    'lib/port/ports.lua',
    'if not record then return nil, nil, nil end',
    'if not record then return nil end',
    /returns of 1 and 3 values/,
  ],
  [
    'wires followed within each other',
    'lib/port/wires.lua',
    'function wires.is_there(',
    'function wires.follow(id, doc)\n  if doc.parent then wires.follow(doc.parent, doc) end\nend\nfunction wires.is_there(',
    /wires.follow calls itself: expected a loop/,
  ],
  [
    'more locals than registers',
    'lib/runtime/tables.lua',
    'function tables.has(',
    `function tables.many()\n${Array.from({ length: 61 }, (_, i) => `  local a${i}\n`).join('')}end\nfunction tables.has(`,
    /61 locals at once: expected at most 60/,
  ],
]

test.each(traps)('%s, put back into %s, is refused with its line', (_, file, find, replace, says) => {
  const text = readFileSync(join(root, file), 'utf8')
  expect(text).toContain(find)
  const [first, ...others] = refusedIn(
    file,
    text.replace(find, () => replace),
  )
  expect([first?.says, others]).toEqual([expect.stringMatching(says), []])
  expect(first!.line).toBeGreaterThanOrEqual(text.slice(0, text.indexOf(find)).split('\n').length - 20)
})

const edited = (file: string, find: string, replace: string) => (one: string, text: string) =>
  one === file ? text.replace(find, () => replace) : text

test.each([
  [
    'hops within each other, as they were before they stood in line',
    'lib/port/wires.lua',
    'function wires.ends_of(',
    'function wires.first(id)\n  return wires.second(id)\nend\nfunction wires.second(id)\n  return id and wires.first(id)\nend\nfunction wires.ends_of(',
    [/wires\.lua:\d+: wires.first → wires.second → wires.first: expected a loop/, /wires.second → wires.first → /],
  ],
  [
    'a note of how deep they go that says too much',
    'lib/port/write.lua',
    'at most 20 levels deep',
    'at most 101 levels deep',
    Array(9).fill(/write\.lua:\d+: write.*with N up to 100, got 101/),
  ],
])('recursive functions are refused with their lines: %s', (_, file, find, replace, says) => {
  const refused = refusedScripts(edited(file, find, replace))
  expect(refused).toEqual(says.map((one) => expect.stringMatching(one)))
})

test('a module with more than 150 local names is refused', () => {
  const names = Array.from({ length: 151 }, (_, i) => `local function n${i}() end\n`).join('')
  const edit = edited('lib/port/wires.lua', 'function wires.is_there(', `${names}function wires.is_there(`)
  expect(refusedScripts(edit)).toEqual([
    expect.stringMatching(/^src\/redis\/lua\/lib\/port\/wires\.lua:1: 15\d locals: expected at most 150 in a module$/),
  ])
})

test.each([
  ["local n = tonumber((text:match('%d')))", []],
  ["local n = tonumber(text:match('%d'))", [1]],
  ["local t = {\n  text:gsub('a', 'b')\n}", [1]],
  ["local a, b = text:match('(%d)(%d)')", []],
  ["\nlocal n = tonumber('010')", [2]],
  ["local n = tonumber('010', 10)", []],
])('%j is refused in lines %j', (text, lines) =>
  expect(refusedIn('a.lua', text).map(({ line }) => line)).toEqual(lines),
)

const texts = (files: Record<string, string>) =>
  new Map(Object.entries(files).map(([path, text]) => [`${path.includes('/') ? '' : 'lib/'}${path}.lua`, text]))
const lib = (files: Record<string, string>) => linked(texts(files))

describe('modules', () => {
  test.each([
    [
      'that use each other',
      {
        a: 'function a.f() return b.f() end',
        b: 'function b.f() return a.f() end',
      },
      'modules use each other: a → b → a',
    ],
    [
      'that have the same name',
      { a: 'a.x = 1', 'lib/run/a': 'a.x = 1' },
      'lib/run/a.lua:1: expected another name, because a has this name',
    ],
    [
      'that use what another does not give',
      {
        a: 'function a.f() return b.g() end',
        b: 'b.x = 1',
      },
      'lib/a.lua:1: expected a member of b, got g',
    ],
    [
      'that use an undefined name',
      { a: 'function a.f() return g() end' },
      'lib/a.lua:1: expected a name that is declared, got g',
    ],
    [
      'that use another as a value',
      { a: 'a.x = { b }', b: 'b.x = 1' },
      'lib/a.lua:1: expected a member of b, got no member',
    ],
    [
      'that give a name twice',
      { a: 'function a.f() end\nfunction a.f() end' },
      'lib/a.lua:2: expected one f in a module, got another',
    ],
    [
      'that do something when they are read',
      { a: 'f()' },
      'lib/a.lua:1: expected a local, a function or a member of the module at the top of a file',
    ],
  ])('%s are refused', (_, files, says) => expect(() => lib(files as never)).toThrow(says))

  test('are known by their names, and locals may have the same names', () => {
    const time = 'time.now = redis.call'
    const uses = (body: string) =>
      lib({ a: `function a.f() ${body} end`, 'lib/runtime/time': time })
        .modules.get('a')!
        .units[0]!.uses.filter(({ isTarget }) => !isTarget)
        .map(({ symbol }) => symbol.name)
    expect(uses('return time.now')).toEqual(['now'])
    expect(uses('local time = { now = 1 } return time.now')).toEqual([])
    expect(() => uses('return time.later')).toThrow('lib/a.lua:1: expected a member of runtime/time, got later')
  })

  test('a script has only the statements that it reaches, and additions to its tables', () => {
    const library = new Library(
      texts({
        a: [
          'local kinds = {}',
          'function kinds.one() return b.helper() end',
          'function a.kind(name) return kinds[name] end',
          'function a.unused() return b.other() end',
        ].join('\n'),
        b: 'function b.helper() end\nfunction b.other() end',
        'scripts/x': "return a.kind('one')",
      }),
    )
    const [script] = library.scripts
    const uses = usesIn(script!.body, script!, new Map(), library.modules)
    const names = [...library.reached(uses)].flatMap(({ gives, adds }) =>
      [...gives, ...(adds ? [adds] : [])].map(({ name }) => name),
    )
    expect(names.sort()).toEqual(['helper', 'kind', 'kinds', 'kinds'])
  })

  test('a value that a script assigns is created once per call, before any function needs it', () => {
    const library = new Library(
      texts({
        a: ['a.flag = false', 'a.other = false', 'function a.get() return a.flag end'].join('\n'),
        'scripts/x': 'a.flag = true\nreturn a.get()',
      }),
    )
    const eager = [...library.eager].flatMap(({ gives }) => gives.map(({ name }) => name))
    expect(eager).toContain('flag')
    expect(
      library.groups.flatMap(({ units }) => units.flatMap(({ gives }) => gives.map(({ name }) => name))),
    ).not.toContain('flag')
  })

  test('a statement at the top of a module has one value, unless all are numbers', () => {
    const module = (line: string) => lib({ a: line })
    expect(() => module('local x, y = {}, {}')).toThrow('lib/a.lua:1: expected one value in a statement')
    expect(() => module('local x, y = 1, 2')).not.toThrow()
  })
})

describe('small scripts', () => {
  test.each([
    ['local a = 1 -- one\n\nreturn  a', 'local a=1\nreturn a', [1, 3]],
    ['a = b - -c .. 1 .. d', 'a=b- -c.. 1 ..d', [1]],
    ["x = 'a  -- b' .. [[ c ]]", "x='a  -- b'..[[ c ]]", [1]],
    ['t[ [[a]] ] = not b', 't[ [[a]]]=not b', [1]],
    ['function f(a)\n  g(a)\nend', 'function f(a)g(a)end', [2]],
    ['f(function(a)\n  g(a)\nend)\nh()', 'f(function(a)g(a)end)\nh()', [2, 4]],
    ['if a then\n  b[c]\n= d\nelse\n  return\nend', 'if a then\nb[c]\n=d else\nreturn end', [1, 2, 3, 5]],
    ['local a = f() local b = function() return a end', 'local a=f()local b=function()return a end', [1]],
  ])('%j becomes %j', (source, text, lines) => expect(print(source, [0, source.length], [])).toEqual({ text, lines }))

  test('a line reported by Redis is mapped to its source', () => {
    const lines = committed.commit.text.split('\n')
    const places = lines.map((line, i) => [line, inSources(`user_script:${i + 1}`, committed.commit)] as const)
    const texts = places.filter(([line]) => /'[a-zA-Z]+ [a-zA-Z ]{8,}'/.test(line))
    expect(texts.length).toBeGreaterThan(3)
    for (const [line, place] of texts) {
      const [file, at] = place.split(':')
      const source = readFileSync(join(root, file!), 'utf8').split('\n')[Number(at) - 1]
      expect(source).toContain(/'[a-zA-Z]+ [a-zA-Z ]{8,}'/.exec(line)![0])
    }
    const line = lines.indexOf(texts[0]![0]) + 1
    expect(inSources(`ERR @user_script:${line}: attempt to …`, committed.commit)).toBe(
      `ERR ${texts[0]![1]}: attempt to …`,
    )
    expect(inSources('user_script:1: it is large', committed.commit)).toBe('commit: it is large')
  })
})

// Maximum sizes, because a larger script makes each call slower.
const KIB: Record<string, number> = {
  breaker: 2,
  classes: 5,
  errors: 10,
  flow: 12,
  glance: 12,
  inspect: 16,
  limits: 4,
  list: 20,
  overview: 6,
  peek: 9,
  processes: 9,
  tree: 10,
  verify: 34,
  commit: 125,
  change: 100,
  enqueue: 95,
  extend: 68,
  limit: 68,
  tick: 77,
  register: 69,
  settings: 69,
  signal: 14,
}

const { scripts } = buildScripts()

test.each(Object.entries(KIB))('%s is at most %i KiB', (name, kib) =>
  expect(Buffer.byteLength(scripts.get(name)!.text)).toBeLessThanOrEqual(kib * 1024),
)

// Lua allows 200 locals per function, and some engines 200 registers. Each call of a script creates all its functions.
test.each([...scripts.keys()])('%s makes at most 90 functions a call, and has at most 100 locals', (name) => {
  const { text } = scripts.get(name)!
  expect(functionsMade(text)).toBeLessThanOrEqual(90)
  const locals = read(text).body.filter(({ type }) => type === 'LocalStatement') as never as { variables: unknown[] }[]
  expect(locals.reduce((sum, { variables }) => sum + variables.length, 0)).toBeLessThanOrEqual(100)
})

test.each([
  ['local function f() return function() end end', 1],
  ['local t = { a = function() end }\nfunction t.b() end', 2],
  ['(function() t.a = function() end end)()', 2],
  ['return f(function() end)', 1],
])('%j makes %i functions a call', (text, n) => expect(functionsMade(text)).toBe(n))

describe('the names of fields', () => {
  const shorten = (text: string) => {
    const source = read(text)
    const modules = new Set(['cache'])
    const edits = fieldEdits(source, { file: 'x.lua', declared: declaredIn([source]), modules })
    return print(text, [0, text.length], edits).text
  }

  test('are long in sources and short in scripts, whatever a variable is called', () => {
    expect(shorten("change(id, doc, fields.lease_until, doc.token)\nreturn { place = 'new', rare = 1 }")).toBe(
      "change(id,doc,'le',doc.tk)\nreturn{z='new',rare=1}",
    )
    expect(shorten('local job = cache.find(id)\nreturn job.catch_up_at')).toBe(
      'local job=cache.find(id)\nreturn job.nc',
    )
    expect(shorten('return cache.queue(doc.queue).mode')).toBe('return cache.queue(doc.q).m')
  })

  test.each([
    ['\nif job.catch_up_til then return end', 'x.lua:2: expected a field, got catch_up_til'],
    [
      'local job = cache.find(id)\nreturn job.mode',
      'x.lua:2: expected a field of fields (src/redis/keys.ts), got mode',
    ],
    ['return cache.need(doc.parent).tokn', 'x.lua:1: expected a field of fields (src/redis/keys.ts), got tokn'],
    ['return cache.queue(q).token', 'x.lua:1: expected a field of queue_fields (src/redis/keys.ts), got token'],
    ['return limit_fields.rat', 'x.lua:1: expected a field of limit_fields (src/redis/keys.ts), got rat'],
  ])('that no record has are refused: %j', (source, error) => expect(() => shorten(source)).toThrow(error))

  test.each([
    ['lib/run/claim.lua', 'doc.token == token', 'doc.tokn == token', 'tokn'],
    ['lib/job/specs.lua', "cache.queue(q).mode == 'pull'", "cache.queue(q).mod == 'pull'", 'mod'],
  ])('that are wrong in %s fail the build with their line', (file, find, replace, name) => {
    const text = readLua(file)
    const line = text.slice(0, text.indexOf(find)).split('\n').length
    expect(() => buildScripts(edited(file, find, replace))).toThrow(
      new RegExp(`^${file}:${line}: expected a field.*, got ${name}$`),
    )
  })
})

test('an undeclared name in a script fails the build with its line', () => {
  const text = readLua('scripts/commit.lua')
  const line = text.slice(0, text.indexOf('cache.fetch(KEYS)')).split('\n').length
  expect(() => buildScripts(edited('scripts/commit.lua', 'cache.fetch(KEYS)', 'cahce.fetch(KEYS)'))).toThrow(
    `scripts/commit.lua:${line}: expected a name that is declared, got cahce`,
  )
})

// A damaged record must stop only its own job.
test('no script decodes a record of Redis without a guard', () => {
  const own = ['runtime/readable', 'runtime/pieces', 'runtime/cache', 'doctor/salvage', 'doctor/shape']
  const bare = luaFiles().flatMap((file) =>
    [...readLua(file).matchAll(/.*cjson\.decode\((?!args\.take\(\)|spec\.tail|own\[).*/g)]
      .map(([line]) => `${file}: ${line.trim()}`)
      .filter(() => !own.some((module) => file.endsWith(`${module}.lua`)))
      .filter((line) => !line.startsWith('scripts/repair.lua') && !line.startsWith('queries/verify.lua')),
  )
  expect(bare).toEqual([])
})
