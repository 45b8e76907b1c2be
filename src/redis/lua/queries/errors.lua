-- Returns the failed jobs of each queue, grouped by kind of error.
--
-- by: API, dashboard
-- reads: counts, job, jobs, queue, queues
-- most: maximum ids of each kind, newest first

local queue_name, class, most = args.take(), args.take(), args.take_int()

local names = queues.asked(queue_name)
local keys, failing = {}, {}
for i, name in ipairs(names) do keys[i] = kinds.text_key(name) end
queues.fetch(names, keys)
for _, name in ipairs(names) do
  if not tally.is_empty(name, 'failed') then failing[#failing + 1] = name end
end

local newest = {}
local function kinds_of(name)
  local found, counted = {}, 0
  for _, one in ipairs((kinds.listed(name))) do
    local members = (class == '' or one.class == class) and kinds.newest(name, one.kind, '', most) or {}
    if members[1] then
      one.ids = kinds.ids_in(members)
      one.count = #members < most and #members or kinds.count(name, one.kind)
      counted = counted + one.count
      newest[#newest + 1] = one.ids[1]
      found[#found + 1] = one
    end
  end
  return found, counted
end

local rows, lists = {}, {}
for i, name in ipairs(failing) do
  local found, counted = kinds_of(name)
  local failed = (cache.queue(name).jobs_at or {})[redis_keys.letters.failed] or tally.count(name, 'failed')
  local unsorted = failed > counted and kinds.count(name, '') or 0
  lists[i] = { found = found, failed = failed, unsorted = unsorted }
end

-- After 4 MiB of documents, the remaining kinds have no message.
local MAX_READ, CHUNK, read_bytes = 4194304, 64, 0
local errors = {}
for from = 1, #newest, CHUNK do
  local some, side_keys = read_bytes < MAX_READ and tables.slice(newest, from, from + CHUNK - 1) or {}, {}
  for id, doc in cache.each(some) do
    read_bytes = read_bytes + #cache.document(id)
    errors[id] = doc
    if doc.last_error == '^' then side_keys[#side_keys + 1] = values.side_key(id, fields.last_error) end
  end
  cache.fetch(side_keys)
end

for i, name in ipairs(failing) do
  local shown = {}
  for _, one in ipairs(lists[i].found) do
    local doc = errors[one.ids[1]]
    shown[#shown + 1] = row_of.kind { kind = one.kind, class = one.class, first = one.first, last = one.last,
      minutes = one.minutes, count = one.count, jobs = one.ids,
      error = doc and values.get_value(one.ids[1], doc, fields.last_error) or '',
      redacts = doc and values.get_value(one.ids[1], doc, fields.redacts) or '' }
  end
  rows[i] = row_of.failing { queue = name, failed = lists[i].failed, unsorted = lists[i].unsorted, kinds = shown }
end
return reply.errors { queues = rows }
