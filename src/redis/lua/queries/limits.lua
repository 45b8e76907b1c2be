-- limits: the limits there are, or one, with what is in use and what waits. Read only.
--
-- keys: none
-- by: API, dashboard
-- reads: limit, limits
-- writes: none
-- args: ns, clock, seed, key
-- returns: {'limits', [key, document, held, waiting] each}

-- @include lib/runtime/base
-- @include lib/runtime/store
-- @include lib/job/values
-- @include lib/runtime/lists
-- @include lib/queue/order
-- @include lib/limit/quota
-- @include lib/job/status
-- @include lib/port/log
-- @include lib/run/lease
-- @include lib/port/ports
-- @include lib/family/tree
-- @include lib/limit/limits
-- @include lib/limit/turns
-- @include lib/queue/aging
-- @include lib/job/create
-- @include lib/queue/waiters
-- @include lib/queue/lanes

local names = key ~= '' and { key } or redis.call('SMEMBERS', ns .. 'limits')
local rows, keys = {}, {}
for i, name in ipairs(names) do keys[i] = limit_key(name) end
fetch(keys)
for _, name in ipairs(names) do
  local state = limit(name)
  if state.settings and not state.settings.gone then
    rows[#rows + 1] = { name, cjson.encode(state.settings), int(state.held), int(redis.call('ZCARD', limit_key(name, 'waiting'))) }
  end
end
return { 'limits', rows }
