-- Returns the counters per class, for one queue or for the first queues in alphabetical order.
--
-- by: API, dashboard
-- reads: counts, queue, queues
-- most_bytes: maximum bytes of hourly counters (0: none). Queues beyond this maximum are returned without them.

local queue_name, most_queues, most_bytes = args.take(), args.take_int(), args.take_int()

local names = queues.asked(queue_name)
local more = #names > most_queues and 'more' or ''
local shown, rows, has_hours = math.min(#names, most_queues), {}, {}
local function text_of(q, which) return cache.raw[class_counts.key(q, which)] or '' end

local keys, hour_keys = {}, {}
for i = 1, shown do
  tables.append(keys, { redis_keys.queue(names[i]), class_counts.key(names[i], 'c'), class_counts.key(names[i], 'b') })
end
cache.fetch(keys)

-- Estimates the size before reading: the string of an hour is about as long as the string of a day.
local left = most_bytes
for i = 1, shown do
  left = left - class_counts.HOURS * math.max(#text_of(names[i], 'c'), #text_of(names[i], 'b'))
  has_hours[i] = most_bytes > 0 and left >= 0
  for n = 1, has_hours[i] and class_counts.HOURS or 0 do
    hour_keys[#hour_keys + 1] = class_counts.key(names[i], 'k' .. n - 1)
  end
end
cache.fetch(hour_keys)

for i = 1, shown do
  local marks = {}
  for n = 1, has_hours[i] and class_counts.HOURS or 0 do marks[n] = text_of(names[i], 'k' .. n - 1) end
  local texts = { cache.queue(names[i]).class_counts or '', text_of(names[i], 'c'), text_of(names[i], 'b') }
  rows[i] = row_of.classed { queue = names[i], texts = texts, marks = marks, has_hours = has_hours[i] and '1' or '' }
end
return reply.classes { queues = rows, more = more, now = time.now }
