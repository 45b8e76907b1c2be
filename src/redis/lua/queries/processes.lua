-- processes: who is at work: lanes, programs that ask under a name, and which runs they have. Read only.
--
-- keys: none
-- by: API, dashboard
-- reads: job, jobs, processes, queue, queues
-- writes: none
-- args: ns, clock, seed, most:int
-- returns: atWork

local cache = require 'runtime/cache'
local entries = require 'runtime/entries'
local numbers = require 'runtime/numbers'
local redis_keys = require 'runtime/redis_keys'
local tables = require 'runtime/tables'
local tally = require 'runtime/tally'
local time = require 'runtime/time'
local fetch, fetch_jobs, find, queue = cache.fetch, cache.fetch_jobs, cache.find, cache.queue
local int = numbers.int
local queue_key = redis_keys.queue_key
local now = time.now

local names = redis.call('SMEMBERS', ns .. 'queues')
local keys, lanes, ids, more = {}, {}, {}, ''
for i, name in ipairs(names) do keys[i] = queue_key(name) end
fetch(keys)
for _, name in ipairs(names) do
  local queue_record = queue(name)
  for lane, till in pairs(queue_record.lanes) do
    if till > now and not lane:find('^bell') then lanes[#lanes + 1] = row_of.lane { queue = name, lane = lane, till = int(till) } end
  end
  -- No end of a lease is waited for where nothing is lent.
  if queue_record.next_lease and #ids < most then
    local found = tally.members(name, 'leases', most + 1 - #ids)
    for _, id in ipairs(entries.ids_of(found, most + 1 - #ids)) do ids[#ids + 1] = id end
  end
end
if #ids > most then
  more = 'more'
  ids = tables.slice(ids, 1, most)
end
fetch_jobs(ids)
local runs = {}
for _, id in ipairs(ids) do
  local doc = find(id)
  if doc and doc.place == 'l' then runs[#runs + 1] = row_of.run { job = id, queue = doc.queue, class = doc.class, token = doc.token, started_at = doc.ran_at, lease_until = doc.lease_until, process = doc.process or '' } end
end
local known, rows = redis.call('HGETALL', ns .. 'processes'), {}
for i = 1, #known, 2 do rows[#rows + 1] = row_of.process { name = known[i], record = known[i + 1] } end
return reply.at_work { lanes = lanes, processes = rows, runs = runs, more = more, now = int(now) }
