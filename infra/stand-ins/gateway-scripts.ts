import { createHash } from 'node:crypto'
import { type Command, MINUS } from './resp.ts'

type Prepared = { text: string; sha: string; writes: boolean }

/**
 * Replaces the vendor's flags in the first line, which plain Redis rejects, by a line that enforces them. The client
 * names scripts by the sha of its text, so both shas are kept.
 */
export function createScripts() {
  const byText = new Map<string, Prepared>()
  const bySha = new Map<string, Prepared>()
  const original = new Map<string, string>()

  function prepare(text: string): Prepared | { error: string } {
    const known = byText.get(text)
    if (known) return known
    const prepared = translate(text)
    if ('error' in prepared) return prepared
    byText.set(text, prepared)
    bySha.set(sha1(text), prepared)
    original.set(prepared.sha, sha1(text))
    return prepared
  }

  /** Returns the command to send instead of one with a flagged script; other commands stay. */
  function rewrite(command: Command): Command | { error: string } {
    const verb = String(command[0]).toUpperCase()
    if (verb === 'EVAL' || verb === 'EVAL_RO') return rewriteEval(verb, command)
    if (verb === 'EVALSHA' || verb === 'EVALSHA_RO') return rewriteEvalsha(verb, command)
    return verb === 'SCRIPT' ? rewriteScript(command) : command
  }

  function rewriteEval(verb: string, command: Command): Command | { error: string } {
    const [, script, ...rest] = command
    if (!isFlagged(script)) return command
    const prepared = prepare(String(script))
    if ('error' in prepared) return prepared
    return [prepared.writes ? verb : 'EVAL_RO', prepared.text, ...rest]
  }

  function rewriteEvalsha(verb: string, command: Command): Command {
    const [, sha, ...rest] = command
    const prepared = bySha.get(String(sha).toLowerCase())
    return prepared ? [prepared.writes ? verb : 'EVALSHA_RO', prepared.sha, ...rest] : command
  }

  function rewriteScript(command: Command): Command | { error: string } {
    const [, action, ...args] = command
    const verb = String(action).toUpperCase()
    if (verb === 'EXISTS')
      return ['SCRIPT', 'EXISTS', ...args.map((sha) => bySha.get(String(sha).toLowerCase())?.sha ?? sha)]
    if (verb !== 'LOAD' || !isFlagged(args[0])) return command
    const prepared = prepare(String(args[0]))
    return 'error' in prepared ? prepared : ['SCRIPT', 'LOAD', prepared.text]
  }

  /** Translates answers about a rewritten script back: its sha and line numbers. */
  function restore(reply: Buffer): Buffer {
    if (reply[0] === MINUS) return restoreError(reply)
    if (reply.length !== 47 || reply[0] !== DOLLAR) return reply
    const sha = original.get(reply.toString('latin1', 5, 45))
    return sha ? Buffer.from(`$40\r\n${sha}\r\n`) : reply
  }

  function restoreError(reply: Buffer): Buffer {
    const [, fault, line, sha, seen] = faultPattern.exec(reply.toString()) ?? []
    const sent = original.get(sha ?? '')
    return sent ? Buffer.from(`${fault} script: ${sent}, on @user_script:${line ?? seen}.\r\n`) : reply
  }

  return { rewrite, restore }
}

const DOLLAR = 0x24

/** Separates an error from its line, because Redis sees all calls in line 1. */
const MARK = ' @line '
const faultPattern = /^(.*?)(?: @line (?:user_script:(\d+): )?)? script: ([0-9a-f]{40}), on @user_script:(\d+)\.\r\n$/

const flags = new Set([
  'allow-key-locking',
  'no-writes',
  'allow-oom',
  'allow-stale',
  'no-cluster',
  'allow-cross-slot-keys',
])

function isFlagged(script: string | Buffer | undefined) {
  return script?.toString().startsWith('#!') ?? false
}

function translate(script: string): Prepared | { error: string } {
  const [, engine, list = '', body = ''] = /^#!(\S*)(?:[ \t]+flags=(\S*))?[ \t]*\r?(\n[\s\S]*)?$/.exec(script) ?? []
  if (engine !== 'lua') return { error: `ERR Unexpected engine in script shebang: ${engine ?? script.split('\n')[0]}` }
  const given = list.split(',').filter(Boolean)
  const unknown = given.find((flag) => !flags.has(flag))
  if (unknown) return { error: `ERR Unexpected flag in script shebang: ${unknown}` }
  // The body keeps its first newline, so that line numbers match the source.
  const text = (given.includes('allow-key-locking') ? declaredKeysOnly : '') + body
  return { text, sha: sha1(text), writes: !given.includes('no-writes') }
}

function sha1(text: string) {
  return createHash('sha1').update(text).digest('hex')
}

/**
 * A script that locks only its keys must declare them all: other keys work on plain Redis and fail at the vendor.
 * Positions of keys in commands: `first` unless listed otherwise.
 */
const keysOf = {
  none: 'PING ECHO TIME PUBLISH SPUBLISH SCRIPT FUNCTION ACL INFO COMMAND CONFIG DBSIZE RANDOMKEY SCAN KEYS',
  never: 'FLUSHDB FLUSHALL',
  all: 'DEL UNLINK EXISTS TOUCH MGET SINTER SUNION SDIFF SINTERSTORE SUNIONSTORE SDIFFSTORE PFCOUNT PFMERGE',
  two: 'RENAME RENAMENX COPY SMOVE LMOVE RPOPLPUSH LCS ZRANGESTORE GEOSEARCHSTORE',
  pairs: 'MSET MSETNX',
  second: 'OBJECT MEMORY XGROUP XINFO',
  counted: 'ZUNION ZINTER ZDIFF ZINTERCARD SINTERCARD LMPOP ZMPOP',
  stored: 'ZUNIONSTORE ZINTERSTORE ZDIFFSTORE',
  streams: 'XREAD XREADGROUP',
}

const tables = Object.entries(keysOf).map(([kind, names]) => names.split(' ').map((name) => `${name}='${kind}'`))

/** One line, so that the rest of the script keeps its line numbers. */
const declaredKeysOnly = `local redis = (function(redis, KEYS)
local kinds = {${tables.flat().join(',')}}
local keys = {}
for i = 1, #KEYS do keys[KEYS[i]] = true end
local function range(kind, args)
  local a, b = tonumber(args[1]), tonumber(args[2])
  if kind == 'all' then return 1, #args, 1 end
  if kind == 'two' then return 1, 2, 1 end
  if kind == 'pairs' then return 1, #args, 2 end
  if kind == 'second' then return 2, 2, 1 end
  if kind == 'counted' then return 2, 1 + (a or 0), 1 end
  if kind == 'stored' then return 3, 2 + (b or 0), 1 end
  local first = 1
  while args[first] and string.upper(args[first]) ~= 'STREAMS' do first = first + 1 end
  return first + 1, first + (#args - first) / 2, 1
end
local function dynamic(key)
  return "ERR Dynamic keys are not allowed in Lua scripts when 'allow-key-locking' flag is set. Key was: " .. tostring(key)
end
local function problem(name, key, ...)
  local kind = kinds[name]
  if kind == nil then
    kind = kinds[string.upper(tostring(name))] or 'first'
    kinds[name] = kind
  end
  if kind == 'never' then return 'ERR ' .. name .. " is not allowed in Lua scripts when 'allow-key-locking' flag is set" end
  if kind == 'none' or key == nil then return nil end
  if kind == 'first' or kind == 'stored' then
    if not keys[tostring(key)] then return dynamic(key) end
    if kind == 'first' then return nil end
  end
  local args = {key, ...}
  local from, to, step = range(kind, args)
  for i = from, to, step do
    if args[i] ~= nil and not keys[tostring(args[i])] then return dynamic(args[i]) end
  end
end
local protected = redis.pcall
local function answer(...)
  local found = problem(...)
  if found then return redis.error_reply(found) end
  return protected(...)
end
local function call(...)
  local reply = answer(...)
  if type(reply) ~= 'table' or not reply.err then return reply end
  local _, line = pcall(error, '', 3)
  local fault = reply.err .. '${MARK}' .. line
  error(redis.REDIS_VERSION and {err = fault} or fault, 0)
end
return setmetatable({call = call, pcall = answer}, {__index = redis})
end)(redis, KEYS);`.replaceAll(/\s*\n\s*/g, ' ')
