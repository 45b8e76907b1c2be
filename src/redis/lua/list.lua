-- list: jobs of a queue, a status, a parent or an alias, newest first. Read only and bounded.
--
-- keys: none
-- args: ns, clock, seed, mode, name, status, class, before, most:int, scan:int
-- returns: {'jobs', [id, document, side values, callback] each, next cursor or ''} | {'refused', code, message}
--          mode: 'all' (by id, down from the newest) | 'status' (queue = name) | 'children' (parent = name) | 'alias' | 'repeats' (by their next slot)

-- @include lib/base
-- @include lib/store
-- @include lib/status
-- @include lib/entries
-- @include lib/ports
-- @include lib/family
-- @include lib/limits
-- @include lib/create
-- @include lib/waiters
-- @include lib/queues
-- @include lib/claims

local jobs, cursor = {}, ''

local function show(id)
  local doc = find(id)
  if not doc or (status ~= '' and status_of(doc) ~= status) or (class ~= '' and doc.c ~= class) then return end
  if mode == 'all' and name ~= '' and doc.q ~= name then return end
  jobs[#jobs + 1] = { id, text_at(key_of(id)), flat_side_values(id, doc), callback_of(doc) }
end

local function all()
  local from = before ~= '' and tonumber(before) - 1 or tonumber(text_at(ns .. 'jobs:last_id') or 0)
  local stop = math.max(1, from - scan + 1)
  local ids = {}
  for id = from, stop, -1 do ids[#ids + 1] = int(id) end
  fetch_jobs(ids)
  for _, id in ipairs(ids) do
    if #jobs == most then
      cursor = int(tonumber(id) + 1)
      return
    end
    show(id)
  end
  if stop > 1 then cursor = int(stop) end
end

local places = {
  queued = { 'ready', 'ready:pull', 'timers' },
  running = { 'leases' },
  terminating = { 'ready', 'ready:pull', 'leases' },
  suspended = { 'suspended' },
  completed = { 'completed' },
  failed = { 'failed' },
  terminated = { 'terminated' },
}

-- The members of the indexes that hold this status, by a running offset.
local function by_status()
  local offset, seen = tonumber(before ~= '' and before or 0), 0
  for _, place in ipairs(places[status]) do
    local key = queue_key(name, place)
    local size = redis.call('ZCARD', key)
    if offset - seen < size then
      local members = redis.call('ZREVRANGE', key, math.max(0, offset - seen), offset - seen + scan - 1)
      local ids = {}
      for i, member in ipairs(members) do ids[i] = member:match(':(%d+)$') or member end
      fetch_jobs(ids)
      for i, id in ipairs(ids) do
        show(id)
        offset = offset + 1
        if #jobs == most then
          cursor = int(offset)
          return
        end
      end
    end
    seen = seen + size
    offset = math.max(offset, seen)
  end
end

local modes = {
  all = all,
  status = by_status,
  children = function()
    local id = resolve(name)
    local list, ids = children_of(id, need(id)), {}
    for i, child in ipairs(list) do ids[i] = child.id end
    table.sort(ids, function(a, b) return tonumber(a) > tonumber(b) end)
    fetch_jobs(ids)
    for _, child in ipairs(ids) do
      if before == '' or tonumber(child) < tonumber(before) then
        if #jobs == most then
          cursor = jobs[#jobs][1]
          return
        end
        show(child)
      end
    end
  end,
  repeats = function()
    local from = tonumber(before ~= '' and before or 0)
    local ids = redis.call('ZRANGE', ns .. 'repeats', from, from + most - 1)
    fetch_jobs(ids)
    for _, id in ipairs(ids) do show(id) end
    if #ids == most then cursor = int(from + most) end
  end,
  alias = function()
    local id = hget(ns .. 'jobs:aliases', name)
    if id then show(id) end
  end,
}

local ok, why = attempt(modes[mode])
if not ok then return { 'refused', why.code, why.message } end
return { 'jobs', jobs, cursor }
