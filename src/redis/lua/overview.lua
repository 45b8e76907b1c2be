-- overview: every queue with its counts and settings, or one. Read only.
--
-- keys: none
-- by: API, dashboard
-- reads: queue, queues
-- writes: none
-- args: ns, clock, seed, queue_name
-- returns: {'queues', [name, document, lanes, ready, pull, timers, leases, suspended, completed, failed, terminated, oldest] each, now}

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

local names = queue_name ~= '' and { queue_name } or redis.call('SMEMBERS', ns .. 'queues')
local keys, rows = {}, {}
for i, name in ipairs(names) do keys[i] = queue_key(name) end
local function first(name, place) return redis.call('ZRANGE', queue_key(name, place), 0, 0)[1] or '' end

fetch(keys)
for i, name in ipairs(names) do
  local row = { name, cjson.encode(queue(name)), int(lane_count(name)) }
  for _, place in ipairs({ 'ready', 'ready:pull', 'timers', 'leases', 'suspended', 'completed', 'failed', 'terminated' }) do
    row[#row + 1] = int(redis.call('ZCARD', queue_key(name, place)))
  end
  local lanes, pull = first(name, 'ready'), first(name, 'ready:pull')
  row[#row + 1] = pull ~= '' and (lanes == '' or pull < lanes) and pull or lanes
  rows[i] = row
end
return { 'queues', rows, int(now) }
