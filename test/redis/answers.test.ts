import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { declaredIn, fieldEdits } from '../../infra/lua-build/fields.ts'
import { print, read } from '../../infra/lua-build/syntax.ts'
import { answerOf, replies, rowOf, rows } from '../../src/redis/answers.ts'

const redis = join(import.meta.dirname, '../../src/redis')
const filesIn = (folder: string, ext: string) =>
  readdirSync(join(redis, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ext))
    .map((file) => ({ file, text: readFileSync(join(redis, folder, file), 'utf8') }))
const lua = filesIn('lua', '.lua')
const scripts = [...filesIn('lua/scripts', '.lua'), ...filesIn('lua/queries', '.lua')]
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

describe('in Lua', () => {
  const list = (text: string) => {
    const source = read(text)
    const edits = fieldEdits(source, { file: 'scripts/x.lua', declared: declaredIn([source]), modules: new Set() })
    return print(text, [0, text.length], edits).text
  }

  test('names map to positions, and omitted values are empty', () => {
    expect(list('return reply.set { rings = f() }')).toBe("return{'set',f()}")
    expect(list("return reply.set { constraints = 'c' }")).toBe("return{'set',{},'c'}")
    expect(list('return reply.none {}')).toBe("return{'none'}")
  })

  test('rows within answers, over several lines, stay on their lines', () => {
    expect(list('return reply.set {\n  rings = {\n    row_of.ring { queue = q, at = (g()) },\n  },\n}')).toBe(
      "return{'set',\n{\n{q,'',(g())},},}",
    )
  })

  test.each([
    ['return reply.setting { rings = 1 }', 'x.lua:1: expected an answer (src/redis/answers.ts), got reply.setting'],
    ['\nreturn row_of.ring { bell = b, queue = q }', 'x.lua:2: expected one of at in ring, got queue'],
  ])('refuses other answers: %j', (text, says) => expect(() => list(text)).toThrow(says))

  test.each(scripts)('$file answers nothing but records', ({ text }) => {
    expect(text).toMatch(/\breply\.\w+ \{/)
    expect(text).not.toMatch(/^\s*return \{ '|then return \{ '/m)
  })

  test('every named answer and row is used', () => {
    const all = lua.map(({ text }) => text).join('\n')
    const inLua = (table: string, names: string[]) => names.filter((name) => !all.includes(`${table}.${snake(name)} {`))
    expect(inLua('reply', Object.keys(replies))).toEqual([])
    expect(inLua('row_of', Object.keys(rows))).toEqual([])
  })
})

describe('in TypeScript', () => {
  test('lists get their names and types back', () => {
    const raw = ['made', [['7', 'queued', '', '2']], [['q', 'b', '']], []]
    expect(answerOf(raw, 'made', 'refused')).toEqual({
      is: 'made',
      jobs: [{ first: 7, status: 'queued', existing: false, count: 2 }],
      rings: [{ queue: 'q', bell: 'b', at: undefined }],
      claimed: [],
    })
  })

  test('omitted trailing values are empty', () => {
    expect(rowOf('claimed', ['{}'])).toMatchObject({
      document: '{}',
      inputs: [],
      childCount: 0,
      moreSteps: false,
      fault: '',
    })
    expect(answerOf(['ports', [[], ['3', ['=1'], '', '0']]], 'ports').ports).toEqual([
      undefined,
      { taken: 3, items: ['=1'], default: undefined, more: 0 },
    ])
  })

  test('an answer that its script does not define is undefined', () => {
    expect(() => answerOf(['none'], 'room')).toThrow('a script answered none: expected room')
  })

  test('no list is read by position', () => {
    const found = filesIn('verbs', '.ts').filter(
      ({ text }) => /\bevaluate\(|\bcall\(\s*scripts\./.test(text) && /as (unknown as )?\[/.test(text),
    )
    expect(found.map(({ file }) => file)).toEqual([])
  })
})
