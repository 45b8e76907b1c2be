-- limits: the limits there are, or one, with what is in use and what waits. Read only.
--
-- keys: none
-- by: API, dashboard
-- reads: limit, limits
-- writes: none
-- args: ns, clock, seed, key
-- returns: {'limits', [key, document, held, waiting] each}

-- @include lib/base
-- @include lib/store
-- @include lib/lists
-- @include lib/order
-- @include lib/status
-- @include lib/entries
-- @include lib/leases
-- @include lib/ports
-- @include lib/family
-- @include lib/limits
-- @include lib/turns
-- @include lib/ageing
-- @include lib/create
-- @include lib/waiters
-- @include lib/queues

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
