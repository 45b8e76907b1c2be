-- series: Returns the counters of queues by minute or by hour, and the current ones. Read only.
--
-- keys: none
-- by: API, dashboard
-- reads: counts, queue, queues
-- writes: none
-- args: ns, clock, seed, queue_name, kind, most_queues:int
-- returns: series

local queues = require 'look/queues'
local series = require 'look/series'

local names = queues.asked(queue_name)
local more = #names > most_queues and 'more' or ''
names = tables.slice(names, 1, most_queues)
local keys, rows = {}, {}
for _, name in ipairs(names) do
  keys[#keys + 1] = redis_keys.queue_key(name)
  series.add_keys(keys, name, kind)
end
cache.fetch(keys)
for i, name in ipairs(names) do rows[i] = series.row(name, kind) end
return reply.series { queues = rows, more = more, now = numbers.int(time.now) }
