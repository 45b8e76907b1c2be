-- The first count of each minute and each hour also copies all sums into a rotating key, in the same MSET. A point of a
-- series is the difference between two copies.

local WAITS = { 10, 100, 1000, 5000, 30000, 60000, 600000, 3600000 }

function counts.add(doc, what, n)
  local q, class = doc.queue, doc.class
  local queue_record = cache.queue(q)
  if queue_record.minute ~= time.minute then counts.turn(q, queue_record) end
  journal.put(queue_record.counts, what, (queue_record.counts[what] or 0) + (n or 1))
  if class then class_counts.add(q, class, what, n) end
  if not cache.queue_dirty[q] then journal.put(cache.queue_dirty, q, true) end
end

function counts.ran(doc, began, n)
  counts.add(doc, 'runs', n)
  class_counts.ran(doc.queue, doc.class, doc.sequence, began or doc.ran_at, n)
end

function counts.waited(q, ms, n)
  local queue_record = cache.queue(q)
  if queue_record.minute ~= time.minute then counts.turn(q, queue_record) end
  local histogram, at = queue_record.day_waits or { 0, 0, 0, 0, 0, 0, 0, 0, 0 }, class_counts.bucket(WAITS, ms)
  histogram[at] = histogram[at] + n
  cache.change_queue(q, queue_fields.day_waits, histogram)
  if ms > (queue_record.minute_wait or 0) then cache.change_queue(q, queue_fields.minute_wait, ms) end
  if ms > (queue_record.hour_wait or 0) then cache.change_queue(q, queue_fields.hour_wait, ms) end
end

local today = math.floor(time.now / 86400000)

local MINUTES = 240
local HOURS = 336
local DAYS = 1826

local MOST_NAMES, MOST_QUEUES_KEPT = 100, 100

local function size_of(map)
  local n = 0
  for _ in pairs(map) do n = n + 1 end
  return n
end

local function add_counts(before, more)
  local sum, left = {}, MOST_NAMES
  for what, n in pairs(before) do
    sum[what] = n
    left = left - 1
  end
  for what, n in pairs(more) do
    if not sum[what] then left = left - 1 end
    if sum[what] or left >= 0 then sum[what] = (sum[what] or 0) + n end
  end
  return sum
end

local function keep_day(q, queue_record)
  local key, field = ns .. 'days', numbers.int(queue_record.day)
  local text = cache.hget(key, field)
  local kept = text and readable.decode(text, key .. ' ' .. field) or {}
  local name = (kept[q] or size_of(kept) < MOST_QUEUES_KEPT) and q or ':others'
  local day_record = kept[name] or {}
  kept[name] = { counts = add_counts(day_record.counts or {}, queue_record.counts), waits = name == q
    and queue_record.day_waits or nil }
  cache.hset(key, field, cjson.encode(kept))
  for old = queue_record.day - DAYS, math.min(today - DAYS, queue_record.day) - 1 do
    cache.hset(key, numbers.int(old), false)
  end
  cache.change_queue(q, queue_fields.earlier_counts, add_counts(queue_record.earlier_counts or {}, queue_record.counts))
end

local function written_down(queue_record, moment, waited)
  local words = { numbers.int(moment), numbers.int(waited or 0) }
  for what, i in pairs(class_counts.events) do
    words[i + 2] = numbers.int(((queue_record.earlier_counts or {})[what] or 0) + (queue_record.counts[what] or 0))
  end
  local at = queue_record.jobs_at or {}
  for _, n in ipairs({ (at.r or 0) + (at.p or 0), at.l or 0, queue_record.at_limits or 0 }) do
    words[#words + 1] = numbers.int(n)
  end
  words[#words + 1] = queue_record.first_ready or queue_record.first_pull or ''
  return table.concat(words, ',')
end

local function key_of(q, kind, moment, most)
  return ns .. 'counts:' .. q .. ':' .. kind .. moment % most
end

function counts.turn(q, queue_record)
  local is_over = queue_record.day and queue_record.day ~= today and next(queue_record.counts)
  local minute, hour = time.minute, math.floor(time.minute / 60)
  cache.set_text(key_of(q, 'm', minute, MINUTES), written_down(queue_record, minute, queue_record.minute_wait))
  cache.change_queue(q, queue_fields.minute_wait, nil)
  if not queue_record.minute or math.floor(queue_record.minute / 60) ~= hour then
    cache.set_text(key_of(q, 'h', hour, HOURS), written_down(queue_record, hour, queue_record.hour_wait))
    cache.change_queue(q, queue_fields.hour_wait, nil)
  end
  cache.change_queue(q, queue_fields.minute, minute)
  if queue_record.day == today then return end
  if is_over then keep_day(q, queue_record) end
  cache.change_queue(q, queue_fields.day, today)
  cache.change_queue(q, queue_fields.counts, {})
  cache.change_queue(q, queue_fields.day_waits, nil)
end
