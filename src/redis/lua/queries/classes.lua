-- classes: what was counted by class, of a queue or of the first ones by name, as it was written down. Read only.
--
-- keys: none
-- by: API, dashboard
-- reads: counts, queue, queues
-- writes: none
-- args: ns, clock, seed, queue_name, most_queues:int, hours:int
-- returns: classes
--          hours: 1 for the texts of the last hours, too

local queues = require 'look/queues'
local class_counts = require 'queue/class_counts'
local cache = require 'runtime/cache'
local numbers = require 'runtime/numbers'
local redis_keys = require 'runtime/redis_keys'
local time = require 'runtime/time'
local fetch, queue, raw = cache.fetch, cache.queue, cache.raw
local int = numbers.int
local queue_key = redis_keys.queue_key
local now = time.now

local names = queue_name ~= '' and { queue_name } or queues.names()
local more = #names > most_queues and 'more' or ''
local keys, rows = {}, {}
local function mark_key(q, n) return class_counts.key(q, 'k' .. int(n)) end
for i = 1, math.min(#names, most_queues) do
  for _, key in ipairs({ queue_key(names[i]), class_counts.key(names[i], 'c'), class_counts.key(names[i], 'b') }) do keys[#keys + 1] = key end
  for n = 0, hours * class_counts.HOURS - 1 do keys[#keys + 1] = mark_key(names[i], n) end
end
fetch(keys)
for i = 1, math.min(#names, most_queues) do
  local texts = { queue(names[i]).class_counts or '' }
  for _, which in ipairs({ 'c', 'b' }) do texts[#texts + 1] = raw[class_counts.key(names[i], which)] or '' end
  local marks = {}
  for n = 0, hours * class_counts.HOURS - 1 do marks[#marks + 1] = raw[mark_key(names[i], n)] or nil end
  rows[i] = row_of.classed { queue = names[i], texts = texts, marks = marks }
end
return reply.classes { queues = rows, more = more, now = int(now) }
