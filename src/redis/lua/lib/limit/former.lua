-- Limits of data from before there were schemas: their indexes had names that another limit may have.
-- Made when first called.

local former = {}

local cache = require 'runtime/cache'
local numbers = require 'runtime/numbers'
local redis_keys = require 'runtime/redis_keys'
local time = require 'runtime/time'
local SCHEMA, raw, schema_key, set_text, text_at, writes = cache.SCHEMA, cache.raw, cache.schema_key, cache.set_text, cache.text_at, cache.writes
local int = numbers.int
local limit_key = redis_keys.limit_key
local now, now_text = time.now, time.now_text

-- Before there were schemas the indexes of a limit had names that another limit may have. Until such data are brought over,
-- whoever looks at a limit takes over what is left there, in pieces where both versions have written.
local PIECE = 1000
local is_whole = true

local function index(former, index)
  if redis.call('TYPE', former).ok ~= 'zset' or redis.call('RENAMENX', former, index) == 1 then return end
  local flat, rows = redis.call('ZRANGE', former, 0, PIECE - 1, 'WITHSCORES'), {}
  for i = 1, #flat, 2 do
    rows[i], rows[i + 1] = flat[i + 1], flat[i]
  end
  redis.call('ZADD', index, 'GT', unpack(rows, 1, #rows))
  redis.call('ZREMRANGEBYRANK', former, 0, PIECE - 1)
  if #flat == 2 * PIECE then is_whole = false end
end

function former.bring_over(key)
  for _, part in ipairs({ 'waiting', 'held', 'window' }) do index(ns .. 'limit:' .. key .. ':' .. part, limit_key(key, part)) end
end

-- A few limits of data from before there were schemas. For an hour after the first look the former version may still write.
-- Answers whether more is left.
local HOUR, ADOPTED_AT_ONCE = 3600000, 20

function former.go_on()
  local since, cursor = (text_at(schema_key) or ''):match('^0,(%d+),(%d+)$')
  if not since then since, cursor = now_text, '0' end
  local page = redis.call('SSCAN', ns .. 'limits', cursor, 'COUNT', ADOPTED_AT_ONCE)
  for _, key in ipairs(page[2]) do former.bring_over(key) end
  local further = is_whole and page[1] or cursor
  local is_over = is_whole and further == '0' and now - tonumber(since) >= HOUR
  set_text(schema_key, is_over and int(SCHEMA) or '0,' .. since .. ',' .. further)
  raw[schema_key] = writes.strings[schema_key]
  return not is_whole or further ~= '0'
end

return former
