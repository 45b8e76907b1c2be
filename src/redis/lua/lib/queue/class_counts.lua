-- Each queue has one string with the counts of the day, one line for each class. A script that has not read this string
-- adds its counts to the document of the queue. The first count of an hour stores a copy of the string, so the events
-- of an hour are the difference between two copies.

class_counts.noted = {} -- queue → class → counts since the last flush

-- Classes after the first hundred share a line, so the string of a day stays below 80 KB.
local MOST, MOST_BESIDE = 100, 20

-- Positions in a line. Waiting times and run times are each a sum of milliseconds and a histogram.
class_counts.events = { made = 1, runs = 2, errors = 3, completed = 4, failed = 5, terminated = 6, lost = 7,
  skipped = 8 }
local WAITED, TOOK = 9, 22
local ENDS = { 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000, 600000, 3600000 }

local today = numbers.int(math.floor(time.now / 86400000))
local hour = math.floor(time.now / 3600000)
class_counts.HOURS = 24

function class_counts.key(q, which) return ns .. 'counts:' .. q .. ':' .. which end

function class_counts.add(q, class, event, n)
  local of, at = journal.within(journal.within(class_counts.noted, q), class), class_counts.events[event]
  journal.put(of, at, (of[at] or 0) + (n or 1))
end

function class_counts.bucket(ends, ms)
  local bucket = 1
  while ends[bucket] and ms > ends[bucket] do bucket = bucket + 1 end
  return bucket
end

local function measure(of, at, ms, n)
  local bucket = class_counts.bucket(ENDS, ms)
  journal.put(of, at, (of[at] or 0) + ms * n)
  journal.put(of, at + bucket, (of[at + bucket] or 0) + n)
end

function class_counts.ran(q, class, since, began, n)
  local of = journal.within(journal.within(class_counts.noted, q), class)
  began = tonumber(began) or time.now
  measure(of, WAITED, math.max(0, began - time.moment_of_sequence(since)), n or 1)
  measure(of, TOOK, math.max(0, time.now - began), n or 1)
end

local function numbers_of(line)
  local of, at = {}, 0
  for word in (line .. ','):gmatch('([^,]*),') do
    at = at + 1
    of[at] = tonumber(word)
  end
  return of
end

-- A line has up to 34 numbers, so only the numbers that grow are parsed.
local function grown(line, more)
  local words, from, kept, last = {}, 1, 1, 0
  for at in pairs(more) do last = math.max(last, at) end
  local padded = line .. (','):rep(last)
  for at = 1, last do
    local to = padded:find(',', from, true)
    if more[at] then
      local n = tonumber(padded:sub(from, to - 1)) or 0
      words[#words + 1] = padded:sub(kept, from - 1) .. numbers.int(n + more[at])
      kept = to
    end
    from = to + 1
  end
  return table.concat(words) .. padded:sub(kept, #line)
end

local function size_of(text)
  local _, lines = text:gsub('\n', '')
  return lines - 1
end

local function with(text, of)
  local lines
  for class, more in pairs(of) do
    local line = keyed.get(text, class)
    if not line then
      lines = lines or size_of(text)
      if lines >= MOST then class = '' end
      line = keyed.get(text, class)
      if not line then lines = lines + 1 end
    end
    text = keyed.set(text, class, grown(line or '', more))
  end
  return text
end

local function text_of_today(q, beside)
  local text = cache.text_at(class_counts.key(q, 'c')) or beside and beside:match('^%d+\n')
  if beside then
    local of = {}
    for class, line in beside:gmatch('\n([^\t\n]*)\t([^\n]*)') do of[class] = numbers_of(line) end
    text = with(text, of)
  end
  local is_of_today = text and text:sub(1, #today + 1) == today .. '\n'
  if text and not is_of_today then cache.set_text(class_counts.key(q, 'b'), text) end
  return is_of_today and text or today .. '\n'
end

function class_counts.settle()
  for q, of in pairs(class_counts.noted) do
    local beside = cache.queue(q).class_counts
    local is_first = cache.queue(q).class_hour ~= hour
    local is_read = is_first or cache.raw[class_counts.key(q, 'c')] ~= nil
      or (beside and size_of(beside) >= MOST_BESIDE)
    local text = is_read and text_of_today(q, beside) or beside or today .. '\n'
    if is_first then
      cache.set_text(class_counts.key(q, 'k' .. hour % class_counts.HOURS), hour .. '\n' .. text)
      cache.change_queue(q, queue_fields.class_hour, hour)
    end
    text = with(text, of)
    if is_read then cache.set_text(class_counts.key(q, 'c'), text) end
    cache.change_queue(q, queue_fields.class_counts, not is_read and text or nil)
    class_counts.noted[q] = nil
  end
end
