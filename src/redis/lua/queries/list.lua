-- Returns jobs that match a filter, newest first.
--
-- keys: documents that the page may read
-- by: API, dashboard
-- reads: counts, job, jobs, limit, limits, queue, queues, repeats
-- status: one status, or several separated by commas
-- since, till: bounds of the creation time (0: none)
-- longer: run time in milliseconds that a job must exceed (-1: any)
-- awaits: '' | 'limit' (a slot of a limit) | 'retry' | 'function' (inside its function, with stored steps)
-- kind: '' | a kind of error (also returns failed jobs of unknown kind) | '-' (only failed jobs of unknown kind)
-- mode: 'all' (by id) | 'ended' (by end; the cursor is moment.id.window) | 'children' (of job `name`; pages may be
--   short or empty) | 'alias' | 'ids' (`name` contains ids separated by commas, the largest first) | 'repeats' (by
--   next slot)

local mode, name, queue_name = args.take(), args.take(), args.take()
local status, class, group, tag, callback = args.take(), args.take(), args.take(), args.take(), args.take()
local since, till, longer = args.take_int(), args.take_int(), args.take_int()
local awaits, kind, before, most, scan = args.take(), args.take(), args.take(), args.take_int(), args.take_int()

local jobs, found, cursor = {}, {}, ''

local wanted = {}
for one in status:gmatch('[^,]+') do wanted[one] = true end

local function made_at(doc) return tonumber(doc.created_at) or time.moment_of_sequence(doc.sequence) end

local function run_time(doc)
  if doc.place == PLACE.leased then return time.now - doc.ran_at end
  local began, ended = (doc.last_run or ''):match('^(%d+),(%d+)')
  return began and ended - began or -1
end

local waiting_for = {
  limit = function(doc) return doc.place == PLACE.limited end,
  ['retry'] = function(doc)
    return doc.place == PLACE.timers and (tonumber(doc.failures) or 0) > 0
      and (tonumber(doc.backoff_until) or 0) > time.now
  end,
  ['function'] = function(doc) return doc.has_steps == '1' and doc.place ~= PLACE.leased end,
}

local fitting_kinds = { '', kind }
local parent
local function fits(doc)
  return (not parent or doc.parent == parent)
    and (status == '' or wanted[states.of(doc)])
    and (class == '' or doc.class == class)
    and (queue_name == '' or doc.queue == queue_name)
    and (group == '' or doc.group == group)
    and (tag == '' or doc.tag == tag)
    and (callback == '' or (doc.callback_status or (doc.callback_job and 'PENDING')) == callback)
    and (till == 0 or made_at(doc) < till)
    and (since == 0 or made_at(doc) >= since)
    and (longer < 0 or run_time(doc) > longer)
    and (awaits == '' or waiting_for[awaits](doc))
    and (kind == '' or tables.has(fitting_kinds, (kinds.of(doc))))
end

local MAX_PAGE, bytes = 4194304, 0

local function show(id)
  local doc = cache.find(id)
  if not doc or not fits(doc) then return true end
  local text, side, callback = cache.document(id), snapshot.flat_side_values(id, doc), snapshot.callback_of(doc)
  bytes = bytes + #text + math.max(tables.bytes(side), (values.of(doc))) + tables.bytes(callback)
  if bytes > MAX_PAGE and #jobs > 0 then return false end
  jobs[#jobs + 1] = row_of.listed { id = id, document = text, side = side, callback = callback }
  return true
end

local MAX_READ, read_bytes = 1048576, 0

local function read(ids, from, to)
  local some, shown = tables.slice(ids, from, to), {}
  if read_bytes > MAX_READ then return some, ids[from] end
  cache.fetch_jobs(some)
  local stopped
  for _, id in ipairs(some) do
    if read_bytes > MAX_READ then
      stopped = id
      break
    end
    local doc = cache.find(id)
    read_bytes = read_bytes + #cache.document(id)
    if doc and #jobs + #shown < most and fits(doc) then shown[#shown + 1] = id end
  end
  snapshot.fetch_side_values(shown)
  return some, stopped
end

-- `position`: position of the first job in the index of schedules, or nil for lists that continue at an id.
local function show_all(ids, position)
  local chunk = large.share(#ids)
  for from = 1, #ids, chunk do
    local some, stopped = read(ids, from, from + chunk - 1)
    for i, id in ipairs(some) do
      if id == stopped or #jobs == most or not show(id) then
        cursor = numbers.int(position and position + from + i - 2 or id + 1)
        return false
      end
      -- Ids grow with time, so all later jobs of the list are older. One minute is allowed for clocks that go back.
      local doc = since > 0 and not position and cache.find(id)
      if doc and made_at(doc) < since - 60000 then return false end
    end
  end
  return true
end

local function is_newer(a, b) return tonumber(a) > tonumber(b) end
local function add_older(ids, id)
  if before == '' or tonumber(id) < tonumber(before) then ids[#ids + 1] = id end
end

local id_key = ns .. 'jobs:last_id'
local function newest_id()
  cache.fetch({ id_key, large.key })
  return tonumber(cache.text_at(id_key) or 0)
end

local function by_id()
  local last = newest_id()
  local from = before ~= '' and math.min(before - 1, last) or last
  local stop = math.max(1, from - scan + 1)
  local ids = {}
  for i = 1, from - stop + 1 do ids[i] = numbers.int(from - i + 1) end
  if show_all(ids) and stop > 1 then cursor = numbers.int(stop) end
end

local places = {
  queued = { 'ready', 'ready:pull', 'timers' },
  ['running'] = { 'leases' },
  ['terminating'] = { 'ready', 'ready:pull', 'leases' },
  suspended = { 'suspended' },
  completed = { 'completed' },
  failed = { 'failed' },
  terminated = { 'terminated' },
}

-- Jobs that wait for limits are in no index of a queue.
local awaited = { limit = {}, ['retry'] = { 'timers' } }

-- Up to this many members of indexes are sorted by id. If there are more, reading all jobs by id is faster.
local SORTED = 10000
local MOST_INDEXES = 120

local function wanted_places(name)
  local list, seen = {}, {}
  for one in pairs(wanted) do
    for _, place in ipairs(awaited[awaits] or places[one]) do
      if not seen[place] and not tally.is_empty(name, place) then list[#list + 1] = place end
      seen[place] = true
    end
  end
  return list
end

-- The total is known only if one index contains exactly the requested jobs.
local total = ''
local function has_no_more_conditions()
  return group == '' and tag == '' and callback == '' and since == 0 and till == 0 and longer < 0 and awaits == ''
end

local function tell_total(n)
  local is_exact = class == '' and kind == '' and has_no_more_conditions()
  for one in pairs(wanted) do is_exact = is_exact and #places[one] == 1 and one ~= 'running' end
  if is_exact then total = n end
end

local function asked_queues()
  local names = queues.asked(queue_name)
  queues.fetch(names, { large.key })
  return names
end

local function members_of(one)
  if #one == 2 then return tally.members(one[1], one[2], SORTED) end
  return redis.call('ZRANGE', redis_keys.limit(one[1], 'waiting'), 0, SORTED - 1)
end

local function indexed()
  if status == '' and (newest_id() <= scan or (queue_name == '' and not awaited[awaits])) then return nil end
  for one in pairs(status == '' and places or {}) do wanted[one] = true end
  local names, n, ids, from = asked_queues(), 0, {}, {}
  local is_asked = false
  for _, name in ipairs(names) do is_asked = is_asked or (cache.queue(name).at_limits or 0) > 0 end
  if is_asked and wanted.queued and awaits ~= 'retry' then
    -- Reads all queues, because jobs of several queues can wait for one limit.
    local all_names = queues.names()
    queues.fetch(all_names)
    local waits, left = waited.limits(all_names, scan, {})
    if left > 0 then return nil end
    for key, waiting in pairs(waits) do
      from[#from + 1] = { key }
      n = n + waiting
    end
  end
  for _, name in ipairs(names) do
    for _, place in ipairs(wanted_places(name)) do
      from[#from + 1] = { name, place }
      n = n + tally.count(name, place)
    end
  end
  tell_total(n)
  if n > SORTED or #from > MOST_INDEXES then return nil end
  for _, one in ipairs(from) do
    for _, id in ipairs(entries.ids_of(members_of(one), SORTED)) do add_older(ids, id) end
  end
  table.sort(ids, is_newer)
  return ids
end

local function wanted_kinds()
  if status ~= 'failed' or (kind == '' and class == '') then return nil end
  local wanted_of, texts, names = {}, {}, {}
  for _, name in ipairs(asked_queues()) do
    if not tally.is_empty(name, 'failed') then
      names[#names + 1] = name
      texts[#names] = kinds.text_key(name)
    end
  end
  if kind == '' then cache.fetch(texts) end
  for _, name in ipairs(names) do
    local list, has_dropped = {}, false
    if kind == '' then list, has_dropped = kinds.listed(name) end
    if has_dropped then return nil end
    wanted_of[#wanted_of + 1] = { name, '' }
    if kind ~= '' and kind ~= '-' then wanted_of[#wanted_of + 1] = { name, kind } end
    for _, one in ipairs(list) do
      if one.class == class then wanted_of[#wanted_of + 1] = { name, one.kind } end
    end
  end
  return #wanted_of <= MOST_INDEXES and wanted_of
end

local function of_kinds()
  local list, ids, down_to, n = wanted_kinds(), {}, 0, 0
  if not list then return nil, 0 end
  local is_counted = before == '' and has_no_more_conditions() and (kind == '' or class == '')
  local most_of_each = math.max(most + 1, math.min(scan, math.floor(SORTED / math.max(1, #list))))
  for _, one in ipairs(list) do
    local members = kinds.newest(one[1], one[2], before, most_of_each)
    tables.append(ids, kinds.ids_in(members))
    if members[1] and one[2] == '' then is_counted = false end
    if #members == most_of_each then
      down_to = math.max(down_to, tonumber(ids[#ids]))
      n = n + (is_counted and kinds.count(one[1], one[2]) or 0)
    else
      n = n + #members
    end
  end
  if is_counted then total = n end
  table.sort(ids, is_newer)
  while ids[1] and tonumber(ids[#ids]) < down_to do ids[#ids] = nil end
  return ids, down_to
end

local function all()
  local ids, down_to = of_kinds()
  if not ids then ids = indexed() end
  if not ids then return by_id() end
  local page = tables.slice(ids, 1, scan)
  -- Returns only the ids. The next call declares the keys of these jobs, so that Upstash loads them from disk first.
  if before ~= '' then found = page end
  if (before ~= '' or show_all(page)) and (#ids > #page or down_to > 0) then
    cursor = numbers.int(tonumber(page[#page]))
  end
end

-- Indexes of ended jobs are sorted by removal time, and jobs are kept for different times. So entries are read in
-- windows, latest removal first, and each window is sorted by end time.
local WINDOW = 2400

local function ended_indexes()
  local from = {}
  for _, name in ipairs(asked_queues()) do
    for _, place in ipairs(wanted_places(name)) do from[#from + 1] = redis_keys.queue(name, place) end
  end
  if #from > MOST_INDEXES then
    journal.refuse('BAD_REQUEST',
      'expected at most ' .. MOST_INDEXES .. ' pairs of queue and status, got ' .. #from
      .. ': select a queue or a status')
  end
  return from
end

local function ended_at(member)
  local number = pieces.number_in(member)
  local text = cache.text_at(number and redis_keys.piece(number) or redis_keys.job(member)) or ''
  local _, at = text:find('"' .. fields.ended_at .. '":"', 1, true)
  return at and tonumber((text:match('^%d+', at + 1))) or 0, text
end

local function window_at(start, from)
  local by_moment, moments, share = {}, {}, math.floor(WINDOW / math.max(1, #from))
  local lists, longest = {}, 0
  for i, key in ipairs(from) do
    lists[i] = redis.call('ZREVRANGE', key, start, start + share - 1)
    longest = math.max(longest, #lists[i])
  end
  local step, rank = math.max(1, math.floor(large.share(WINDOW) / #from)), 0
  while rank < longest and read_bytes <= MAX_READ do
    local members = {}
    for _, list in ipairs(lists) do
      for i = rank + 1, math.min(rank + step, #list) do members[#members + 1] = list[i] end
    end
    cache.fetch_jobs(members)
    for _, member in ipairs(members) do
      local moment, text = ended_at(member)
      read_bytes = read_bytes + #text
      if not by_moment[moment] then
        by_moment[moment] = {}
        moments[#moments + 1] = moment
      end
      table.insert(by_moment[moment], member)
    end
    rank = math.min(rank + step, longest)
  end
  table.sort(moments, function(a, b) return a > b end)
  return by_moment, moments, (rank < longest or longest == share) and start + rank or nil
end

local function by_end()
  for _, one in ipairs(status == '' and { 'completed', 'failed', 'terminated' } or {}) do wanted[one] = true end
  local moment_text, id_text, window_text = before:match('^(%d+)%.(%d+)%.(%d+)$')
  local last, last_id, start = tonumber(moment_text) or numbers.never, tonumber(id_text) or 0, tonumber(window_text)
    or 0
  local by_moment, moments, next_start = window_at(start, ended_indexes())
  local looked = 0
  for _, moment in ipairs(moments) do
    local ids = moment <= last and entries.ids_of(by_moment[moment], numbers.never) or {}
    table.sort(ids, is_newer)
    for _, id in ipairs(ids) do
      if moment < last or tonumber(id) < last_id then
        if #jobs == most or looked == scan or not show(id) then
          cursor = moment .. '.' .. id + 1 .. '.' .. start
          return
        end
        looked = looked + 1
      end
    end
  end
  if next_start then cursor = '9000000000000000.0.' .. next_start end
end

local modes = {
  all = all,
  ended = by_end,
  children = function()
    local id, ids = aliases.resolve(name), {}
    if redis.call('HLEN', kin.children_key(id)) > scan then
      parent = id
      return by_id()
    end
    for _, child in ipairs(kin.children_of(id, cache.need(id))) do add_older(ids, child.id) end
    table.sort(ids, is_newer)
    show_all(ids)
  end,
  ['repeats'] = function()
    -- The position is at most the size of the index, because Redis rejects very large numbers.
    local from = before ~= '' and math.min(tonumber(before), redis.call('ZCARD', ns .. 'repeats')) or 0
    local ids = redis.call('ZRANGE', ns .. 'repeats', from, from + most - 1)
    if show_all(ids, from) and #ids == most then cursor = numbers.int(from + most) end
  end,
  ids = function()
    local ids = {}
    for id in name:gmatch('%d+') do add_older(ids, id) end
    show_all(ids)
  end,
  alias = function()
    local id = aliases.owner(name)
    if id then show(id) end
  end,
}

local ok, why = journal.attempt(modes[mode])
if not ok then return reply.refused { code = why.code, message = why.message } end
local newest = cursor:match('^%d+$') and mode ~= 'repeats' and cache.text_at(id_key) or ''
return reply.jobs { jobs = jobs, ids = found, cursor = cursor, total = total, newest = newest }
