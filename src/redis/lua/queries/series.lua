-- series: what queues have counted, as it was written down minute by minute or hour by hour, and as it is now. Read only.
--
-- keys: none
-- by: API, dashboard
-- reads: counts, queue, queues
-- writes: none
-- args: ns, clock, seed, queue_name, kind, most_queues:int
-- returns: series

local counts = require 'queue/counts'
local cache = require 'runtime/cache'
local numbers = require 'runtime/numbers'
local redis_keys = require 'runtime/redis_keys'
local time = require 'runtime/time'
local fetch, queue, raw = cache.fetch, cache.queue, cache.raw
local int = numbers.int
local queue_key = redis_keys.queue_key
local now = time.now

local names, more = { queue_name }, ''
if queue_name == '' then
  names = redis.call('SMEMBERS', ns .. 'queues')
  table.sort(names)
  if #names > most_queues then more = 'more' end
end
local keys, rows, most = {}, {}, kind == 'm' and counts.MINUTES or counts.HOURS
for i = 1, math.min(#names, most_queues) do
  keys[#keys + 1] = queue_key(names[i])
  for place = 0, most - 1 do keys[#keys + 1] = counts.key(names[i], kind, place, most) end
end
fetch(keys)
for i = 1, math.min(#names, most_queues) do
  local queue_record, found = queue(names[i]), {}
  for place = 0, most - 1 do
    local text = raw[counts.key(names[i], kind, place, most)]
    if text then found[#found + 1] = text end
  end
  rows[i] = row_of.counted { queue = names[i], latest = counts.written_down(queue_record, 0, kind == 'm' and queue_record.minute_wait or queue_record.hour_wait), before = found }
end
return reply.series { queues = rows, more = more, now = int(now) }
