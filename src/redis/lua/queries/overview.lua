-- overview: every queue with its counts and settings, or one.
--
-- keys: none
-- by: API, dashboard
-- reads: queue, queues
-- writes: queue
-- args: ns, clock, seed, queue_name
-- returns: queues

local lanes = require 'queue/lanes'
local cache = require 'runtime/cache'
local numbers = require 'runtime/numbers'
local redis_keys = require 'runtime/redis_keys'
local tally = require 'runtime/tally'
local time = require 'runtime/time'
local fetch, queue, raw = cache.fetch, cache.queue, cache.raw
local int = numbers.int
local letters, queue_key = redis_keys.letters, redis_keys.queue_key
local micros, now = time.micros, time.now

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
  local function at(place) return int(queue_record.jobs_at[letters[place]] or 0) end
  local oldest = queue_record.first_pull and (not queue_record.first_ready or queue_record.first_pull < queue_record.first_ready) and queue_record.first_pull or queue_record.first_ready or ''
  rows[i] = row_of.queue {
    name = name,
    document = cjson.encode(queue_record),
    lanes = int(lanes.count(name)),
    ready = at('ready'),
    pull = at('ready:pull'),
    timers = at('timers'),
    leases = at('leases'),
    suspended = at('suspended'),
    completed = at('completed'),
    failed = at('failed'),
    terminated = at('terminated'),
    oldest = oldest,
  }
end
return reply.queues { queues = rows, now = int(now) }
