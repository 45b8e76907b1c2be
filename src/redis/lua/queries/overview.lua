-- overview: every queue with its counts and settings, or one.
--
-- keys: none
-- by: API, dashboard
-- reads: queue, queues
-- writes: queue
-- args: ns, clock, seed, queue_name
-- returns: {'queues', [name, document, lanes, ready, pull, timers, leases, suspended, completed, failed, terminated, oldest] each, now}

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

local names = queue_name ~= '' and { queue_name } or redis.call('SMEMBERS', ns .. 'queues')
local keys, rows = {}, {}
for i, name in ipairs(names) do keys[i] = queue_key(name) end
fetch(keys)

-- Each look counts one queue anew in part, for whatever has come between an index and its count.
local parts = { { 'ready', 'ready:pull' }, { 'timers', 'leases', 'suspended' }, { 'completed', 'failed', 'terminated' } }
local function look_again(q, part)
  local queue_record = queue(q)
  if not queue_record.jobs_at then return end
  local before = tally.text(q)
  for _, place in ipairs(part) do tally.look(q, queue_record, place) end
  if tally.text(q) ~= before then redis.call('SET', queue_key(q), tally.text(q)) end
end
if #names > 0 then look_again(names[1 + math.floor(micros / #parts) % #names], parts[1 + micros % #parts]) end

for i, name in ipairs(names) do
  local queue_record = queue(name)
  if not queue_record.jobs_at then
    tally.look_at_all(name, queue_record)
    if raw[queue_key(name)] then redis.call('SET', queue_key(name), tally.text(name)) end
  end
  local row = { name, cjson.encode(queue_record), int(lane_count(name)) }
  for _, place in ipairs({ 'ready', 'ready:pull', 'timers', 'leases', 'suspended', 'completed', 'failed', 'terminated' }) do
    row[#row + 1] = int(queue_record.jobs_at[tally.places[place]] or 0)
  end
  row[#row + 1] = queue_record.first_pull and (not queue_record.first_ready or queue_record.first_pull < queue_record.first_ready) and queue_record.first_pull or queue_record.first_ready or ''
  rows[i] = row
end
return { 'queues', rows, int(now) }
