-- limits: the limits there are, or one, with what is in use and what waits. Read only.
--
-- keys: none
-- by: API, dashboard
-- reads: limit, limits
-- writes: none
-- args: ns, clock, seed, key, cursor, most:int
-- returns: limits

local limits = require 'limit/limits'
local cache = require 'runtime/cache'
local numbers = require 'runtime/numbers'
local redis_keys = require 'runtime/redis_keys'
local fetch = cache.fetch
local int = numbers.int
local limit_key = redis_keys.limit_key

local names, cursor_after = { key }, '0'
if key == '' then
  local scanned = redis.call('SSCAN', ns .. 'limits', cursor, 'COUNT', most)
  cursor_after, names = scanned[1], scanned[2]
end
local rows, keys = {}, {}
for i, name in ipairs(names) do keys[i] = limit_key(name) end
fetch(keys)
for _, name in ipairs(names) do
  local state = limits.at(name)
  if state.settings and not state.settings.gone then
    rows[#rows + 1] = row_of.limit { key = name, document = cjson.encode(state.settings), held = int(state.held), waiting = int(redis.call('ZCARD', limit_key(name, 'waiting'))) }
  end
end
return reply.limits { limits = rows, cursor = cursor_after ~= '0' and cursor_after or '' }
