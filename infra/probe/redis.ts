import { Redis } from '@upstash/redis'
import { sleep } from '../../src/core/sleep.ts'
import { createClient } from '../../src/redis/client.ts'
import type { Script } from '../../src/redis/script.ts'
import * as generated from '../../src/redis/scripts.generated.ts'
import { createStore } from '../../src/redis/store.ts'
import { is, middle, type Question, refusalOf, timed, unknown } from './verdict.ts'

type RedisPlace = {
  url: string
  token: string
  namespace: string
  record?: number
  silence?: number
}

const MiB = 1024 * 1024
/** Maximum bytes of a request or response on Upstash's smaller plans. */
const MOST = 10 * MiB
/** Scripts unpack at most 2,400 words at once. gopher-lua has too few registers for 7,000. */
const [PIECE, TOO_MANY] = [2_400, 7_000]
const ROUNDS = 50
const SILENCE_MS = 100_000
/** Number of concurrent ticks, and maximum milliseconds by which they may slow each other down. */
const [AT_ONCE, CROWDED_MS] = [20, 50]
/** A script that takes this much longer than an empty script was compiled again. Compiling takes about 15 ms. */
const COMPILED_MS = 8

const scripts = Object.values(generated) as Script<unknown>[]

const short = (text: string): string =>
  text
    .replace(/^Command failed: /, '')
    .replace(/\. See https?:\S+.*$|\s*stack traceback:.*$/s, '')
    .slice(0, 160)

async function accepts(asked: Promise<unknown>) {
  const answer = await refusalOf(asked)
  return is(answer === undefined, answer ? short(answer) : 'accepted')
}

async function refuses(asked: Promise<unknown>, words = '', otherwise = 'accepted') {
  const answer = await refusalOf(asked)
  return is(answer?.includes(words) ?? false, answer ? short(answer) : otherwise)
}

function askedAt({ url, token, namespace, record, silence = SILENCE_MS }: RedisPlace) {
  // Like sidejob, sends one command per request.
  const redis = new Redis({
    url,
    token,
    retry: false,
    automaticDeserialization: false,
    enableTelemetry: false,
    enableAutoPipelining: false,
  })
  const run = (text: string, keys: string[] = [], words: string[] = []) => redis.eval(text, keys, words)
  return {
    redis,
    client: createClient({ url, token }),
    namespace,
    record,
    silence,
    key: (name: string) => `${namespace}${name}`,
    run,
  }
}

type Asked = ReturnType<typeof askedAt>

const luaQuestions = ({ redis, client, namespace, key, run }: Asked): Question[] => [
  {
    about: 'Lua: a match that finds nothing, as the last argument of a call',
    expected: 'the error "value expected" of gopher-lua; nil means PUC Lua, which our scripts support too',
    ask: () => refuses(run("return tonumber(('x'):match('%d'))"), 'value expected', 'nil'),
  },
  {
    about: 'Lua: a large number as an index of a table',
    expected: 'slower than a small index, because the array is filled up to it; our scripts avoid large indexes',
    async ask() {
      const at = (index: number) => timed(() => run(`local t = {} t[${index}] = 1 return 1`))
      await at(1)
      const small = middle([await at(1), await at(1), await at(1)])
      const large = middle([await at(2_000_000), await at(2_000_000), await at(2_000_000)])
      return is(large > small + 5, `index 1: ${small.toFixed(1)} ms, index 2,000,000: ${large.toFixed(1)} ms`)
    },
  },
  {
    about: `Lua: ${PIECE.toLocaleString('en')} words unpacked into one command`,
    expected: 'accepted: our pieces are no larger',
    ask: () => accepts(run(unpacked(PIECE), [key('none')])),
  },
  {
    about: `Lua: ${TOO_MANY.toLocaleString('en')} words unpacked into one command`,
    expected: 'refused by gopher-lua with "registry overflow" or "index out of range"; accepting them does no harm',
    ask: () => refuses(run(unpacked(TOO_MANY), [key('none')])),
  },
  {
    about: `all ${scripts.length} scripts are loaded`,
    expected: 'each compiles, and has the sha that we computed',
    async ask() {
      const wrong: string[] = []
      for (const { name, sha, text } of scripts) {
        const got = await redis.scriptLoad(text).catch((error: Error) => error.message)
        if (got !== sha) wrong.push(`${name}: ${short(String(got))}`)
      }
      return is(wrong.length === 0, wrong.length ? wrong.join('; ') : 'all compile, with the same sha')
    },
  },
  {
    about: 'an unknown script',
    expected: 'NOSCRIPT; the client then sends the source',
    ask: () => refuses(redis.evalsha('0'.repeat(40), [], []), 'NOSCRIPT', 'no error'),
  },
  {
    about: 'a tick of an empty namespace',
    expected: 'no bells to send, and no work left',
    async ask() {
      const { rings, more } = await createStore({ client, namespace }).tick()
      return is(rings.length === 0 && !more, `${rings.length} bells, ${more ? 'work' : 'no work'} left`)
    },
  },
  {
    about: `one script called ${ROUNDS} times`,
    expected: `it stays compiled: less than ${COMPILED_MS} ms slower than an empty script`,
    async ask() {
      const store = createStore({ client, namespace })
      const [empty, whole]: number[][] = [[], []]
      for (let round = 0; round < ROUNDS; round++) {
        empty!.push(await timed(() => run('return 1')))
        whole!.push(await timed(() => store.tick()))
      }
      const [low, high] = [middle(empty!), middle(whole!)]
      return is(high - low < COMPILED_MS, `${high.toFixed(1)} ms median, an empty script ${low.toFixed(1)} ms`)
    },
  },
]

const sizeQuestions = (asked: Asked): Question[] => {
  const { redis, key, run } = asked
  return [
    {
      about: 'a request of 9.9 MB',
      expected: 'accepted',
      ask: () => accepts(redis.set(key('large'), 'x'.repeat(9_900_000))),
    },
    {
      about: 'a request of more than 10 MiB',
      expected: 'refused with "max request size exceeded"; larger plans accept it',
      ask: () => refuses(redis.set(key('large'), 'x'.repeat(MOST + 1)), 'max request size exceeded'),
    },
    {
      about: 'a response of 12 MB',
      expected: 'refused with "max request size exceeded"; larger plans allow it',
      ask: () => refuses(run("return string.rep('x', 12000000)"), 'max request size exceeded'),
    },
    recordQuestion(asked),
    {
      about: 'a message to a subscription over HTTP',
      expected: 'received',
      ask: async () => is(true, await receivedBy(asked, () => redis.publish(key('channel'), 'here'))),
    },
    {
      about: 'a message that a script publishes',
      expected: 'received',
      ask: async () => is(true, await receivedBy(asked, () => publishByScript(asked))),
    },
    {
      about: `the same after ${asked.silence / 1_000} s of silence`,
      expected: 'received, because lanes keep subscriptions open that long',
      ask: async () => is(true, await receivedBy(asked, () => publishByScript(asked), asked.silence)),
    },
    crowdQuestion(asked),
  ]
}

function recordQuestion({ redis, record, key, run }: Asked): Question {
  const about = 'a script that fills a record beyond its limit after an earlier write'
  const expected = 'refused with "max single record size exceeded"; earlier writes are kept'
  if (!record)
    return unknown(about, expected, 'not tried, because it writes 100 MB: use --record to try it (on a small plan)')
  return {
    about,
    expected,
    async ask() {
      const fill = `redis.call('SET', KEYS[1], 'kept')
        for i = 1, 110 do redis.call('RPUSH', KEYS[2], string.rep('x', tonumber(ARGV[1]))) end`
      const answer = await refusalOf(run(fill, [key('before'), key('full')], [String(Math.floor(record / 100))]))
      const kept = (await redis.get(key('before'))) === 'kept'
      await redis.unlink(key('full'))
      return is(
        (answer?.includes('max single record size exceeded') ?? false) && kept,
        `${answer ? short(answer) : 'accepted'}; the earlier write is ${kept ? 'kept' : 'lost'}`,
      )
    },
  }
}

const publishByScript = ({ run, key }: Asked) =>
  run("return redis.call('PUBLISH', KEYS[1], ARGV[1])", [key('channel')], ['here'])

async function receivedBy({ client, key }: Asked, publish: () => Promise<unknown>, after = 0): Promise<string> {
  const startedAt = performance.now()
  const seconds = () => `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`
  for await (const message of client.listen(key('channel'), AbortSignal.timeout(after + 10_000))) {
    if (message !== '') return `received "${message}" after ${seconds()}`
    await sleep(after)
    await publish()
  }
  throw new Error(`the subscription ended after ${seconds()} without a message`)
}

/** A database runs one script at a time, so concurrent ticks wait for each other. */
function crowdQuestion({ client, namespace }: Asked): Question {
  const store = createStore({ client, namespace })
  const tick = () => timed(() => store.tick())
  return {
    about: `${AT_ONCE} ticks at once`,
    expected: `median at most ${CROWDED_MS} ms slower than one alone`,
    async ask() {
      const alone: number[] = []
      for (let round = 0; round < AT_ONCE; round++) alone.push(await tick())
      const crowd = await Promise.all(Array.from({ length: AT_ONCE }, tick))
      const [one, many] = [middle(alone), middle(crowd)]
      return is(many - one <= CROWDED_MS, `one alone ${one.toFixed(1)} ms, ${AT_ONCE} at once ${many.toFixed(1)} ms`)
    },
  }
}

/** The scripts rely on these special cases of cjson. */
const jsonQuestions = ({ run }: Asked): Question[] =>
  [
    ['an empty list and an empty map', "return cjson.encode(cjson.decode('[[],{}]'))", '[{},{}]'],
    ['a time in milliseconds', 'return cjson.encode(1764000000123)', '1764000000123'],
    ['an integer above 2^53', "return cjson.encode(cjson.decode('9007199254740993'))", '9.007199254741e+15'],
    ['U+0000', `local t = cjson.decode('"a\\\\u0000b"') return #t .. ' ' .. cjson.encode(t)`, '3 "a\\u0000b"'],
    ['bytes above 0x7F', `return cjson.encode(cjson.decode('"\\\\u00fc\\\\ud83d\\\\ude00"'))`, '"ü😀"'],
    ['a depth of 100', `return tostring(pcall(cjson.decode, string.rep('[', 100) .. string.rep(']', 100)))`, 'true'],
  ].map(([about, text, expected]) => ({
    about: `cjson: ${about}`,
    expected: expected!,
    async ask() {
      const got = String(await run(text!))
      return is(got === expected, got)
    },
  }))

const billing = ({ key, run }: Asked): Question => ({
  about: 'billed commands of 100 scripts with 10 commands each',
  expected: '1,100 commands: commands inside of scripts count',
  async ask() {
    const from = new Date().toISOString()
    for (let round = 0; round < 100; round++)
      await run("for i = 1, 10 do redis.call('GET', KEYS[1]) end", [key('none')])
    return {
      got: `sent from ${from} to ${new Date().toISOString()}: check in the console whether the counter grew by about 1,100 or by 100`,
    }
  },
})

async function remove(asked: Asked): Promise<number> {
  for (const keys of await found(asked)) await asked.redis.unlink(...keys)
  return (await found(asked)).flat().length
}

async function found({ redis, namespace }: Asked): Promise<string[][]> {
  const pages: string[][] = []
  for (let cursor = ''; cursor !== '0'; ) {
    const [next, keys] = await redis.scan(cursor || '0', { match: `${namespace}*`, count: 1_000 })
    if (keys.length) pages.push(keys)
    cursor = String(next)
  }
  return pages
}

export function questionsOfRedis(place: RedisPlace) {
  const asked = askedAt(place)
  return {
    questions: [...luaQuestions(asked), ...jsonQuestions(asked), ...sizeQuestions(asked), billing(asked)],
    async time(): Promise<number> {
      const [seconds, micros] = await asked.redis.time()
      return Number(seconds) * 1_000 + Number(micros) / 1_000
    },
    remove: () => remove(asked),
  }
}

const unpacked = (words: number): string =>
  `local ask = {} for i = 1, ${words} do ask[i] = KEYS[1] end return #redis.call('MGET', unpack(ask))`
