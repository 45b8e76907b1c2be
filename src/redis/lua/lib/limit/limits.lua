-- Limits: so many at once, so many in a period, of all jobs that carry a key. A job that finds no room waits aside, in
-- its order, and comes back with the room reserved: that is its baton, and whoever drops it hands it on.

local limits = {} -- key → { settings, held, started }
local touched = {} -- limits where room may have come free

-- What a limit has beside its settings stands before its key: a key is any text, also one that ends like a part.
local function limit_key(key, part) return ns .. (part and 'limit-' .. part .. ':' or 'limit:') .. key end

local function keys_of(doc)
  local keys = {}
  for key in (doc.limits or ''):gmatch('[^\n]+') do keys[#keys + 1] = key end
  keys[#keys + 1] = side.own_limit(doc)
  return keys
end

local function fetch_limits(ids)
  local keys = {}
  for _, id in ipairs(ids) do
    local doc = find(id)
    for _, key in ipairs(doc and side.is_limited(doc) and keys_of(doc) or {}) do keys[#keys + 1] = limit_key(key) end
  end
  fetch(keys)
end

-- A run reaches its target somewhat after it was lent, and the more so the later its lane began it. It counts from so
-- much later, lest two periods' starts arrive in one. 3 % of the period cost at most 3 % of the rate.
local function margin(settings, late) return late + math.max(math.min(settings.period * 0.03, 100), 3 * late) end

-- How many hold a slot, and how many started within the period: counted when somebody asks.
local counts_of = {
  held = function(state) return redis.call('ZCOUNT', limit_key(state.key, 'held'), '(' .. int(now), '+inf') end,
  started = function(state)
    return state.settings.rate and redis.call('ZCOUNT', limit_key(state.key, 'window'), '(' .. int(now - state.settings.period), '+inf') or 0
  end,
}
local counting = {}
function counting.__index(state, name)
  if not state.settings or not counts_of[name] then return nil end
  state[name] = counts_of[name](state)
  return state[name]
end

-- Before there were schemas the indexes of a limit had names that another limit may have. Until such data are brought over,
-- whoever looks at a limit takes over what is left there, in pieces where both versions have written.
local PIECE = 1000
local adopted = { is_whole = true }
function adopted.index(former, index)
  if redis.call('TYPE', former).ok ~= 'zset' or redis.call('RENAMENX', former, index) == 1 then return end
  local flat, rows = redis.call('ZRANGE', former, 0, PIECE - 1, 'WITHSCORES'), {}
  for i = 1, #flat, 2 do
    rows[i], rows[i + 1] = flat[i + 1], flat[i]
  end
  redis.call('ZADD', index, 'GT', unpack(rows, 1, #rows))
  redis.call('ZREMRANGEBYRANK', former, 0, PIECE - 1)
  if #flat == 2 * PIECE then adopted.is_whole = false end
end
function adopted.limit(key)
  for _, part in ipairs({ 'waiting', 'held', 'window' }) do adopted.index(ns .. 'limit:' .. key .. ':' .. part, limit_key(key, part)) end
end

-- What is known of a limit: its settings, how many hold a slot, how many started within the period.
local function limit(key)
  local state = limits[key]
  if state then return state end
  if not is_brought_over() then adopted.limit(key) end
  local text = text_at(limit_key(key))
  state = setmetatable({ key = key, settings = text and cjson.decode(text) or false }, counting)
  limits[key] = state
  return state
end

function order.save(key, field, value)
  local state = limit(key)
  put(state.settings, field, value)
  set_text(limit_key(key), cjson.encode(state.settings))
end

-- How many more may start.
local function room_at(key)
  local state = limit(key)
  local settings = state.settings
  if not settings then return never end
  if settings.open then return never end
  if settings.paused or (settings.shut or 0) > now then return 0 end
  local promised = settings.promised or 0
  return math.min((settings.concurrency or never) - state.held - promised, (settings.rate or never) - state.started - promised)
end

-- The first of its keys that has no room for this job; what was promised to it counts for it.
first_full = function(doc)
  for _, key in ipairs(keys_of(doc)) do
    if room_at(key) + (doc.reserved_limit == key and 1 or 0) < 1 then return key end
  end
end

-- It waits in its old order, or for its turn; who comes new, at the end.
set_aside = function(id, doc, key)
  if doc.place and doc.place ~= 'p' and doc.place ~= 'w' then queue_up(id, doc) end
  move(id, doc, 'w', nil, key)
  put(touched, key, true)
end

local function take_slots(id, doc)
  local keys = keys_of(doc)
  for _, key in ipairs(keys) do
    local state = limit(key)
    if state.settings then
      zset(limit_key(key, 'held'), id, tonumber(doc.lease_until))
      put(state, 'held', state.held + 1)
      if state.settings.rate then
        zset(limit_key(key, 'window'), doc.token, now + margin(state.settings, 0))
        put(state, 'started', state.started + 1)
      end
    end
  end
  if #keys > 0 then change(id, doc, fields.held_limits, table.concat(keys, '\n')) end
end

local function held_keys(doc)
  local keys = {}
  for key in (doc.held_limits or ''):gmatch('[^\n]+') do keys[#keys + 1] = key end
  return keys
end

-- A run that is over has reached its target by now; and it began `late` ms after its lane had asked for it.
local function note_start(doc, late)
  for _, key in ipairs(held_keys(doc)) do
    local settings = limit(key).settings
    if settings and settings.rate then
      local moment = math.min(now, tonumber(doc.ran_at) + margin(settings, late))
      if moment > now - settings.period then zset(limit_key(key, 'window'), doc.token, moment) end
    end
  end
end

-- The slots of a run that has ended; those of a lease that is over are free already.
release_slots = function(id, doc)
  for _, key in ipairs(held_keys(doc)) do
    local state = limit(key)
    zset(limit_key(key, 'held'), id, false)
    if state.settings and tonumber(doc.lease_until) > now then put(state, 'held', state.held - 1) end
    put(touched, key, true)
  end
  change(id, doc, fields.held_limits, nil)
end

renew_slots = function(id, doc)
  for _, key in ipairs(held_keys(doc)) do zset(limit_key(key, 'held'), id, tonumber(doc.lease_until)) end
end

drop_baton = function(id, doc)
  local key = doc.reserved_limit
  change(id, doc, fields.reserved_limit, nil)
  if limit(key).settings then order.save(key, limit_fields.promised, math.max(0, (limit(key).settings.promised or 0) - 1)) end
  put(touched, key, true)
end

-- how: 'first', the first to name it sets it; 'set', every time.
local function define_limit(key, settings, how)
  local state = limit(key)
  if not state.settings then
    put(state, 'held', 0)
    put(state, 'started', 0)
    put(state, 'settings', {})
    sset(ns .. 'limits', key, true)
  elseif how == 'first' then
    return
  end
  if state.settings.open and not settings.open then order.save(key, limit_fields.open, nil) end
  for field, value in pairs(settings) do
    if state.settings[field] ~= value then order.save(key, field, value or nil) end
  end
  set_text(limit_key(key), cjson.encode(state.settings))
  put(touched, key, true)
end

-- A group lives as long as it has jobs that have not come to rest. One that comes back after that sets it anew.
count_in_group = function(doc, n)
  local key = 'group:' .. doc.group
  if not limit(key).settings then define_limit(key, limit_fields { concurrency = tonumber(doc.group_concurrency), auto = 1 }, 'first') end
  order.save(key, limit_fields.jobs, (limit(key).settings.jobs or 0) + n)
  put(touched, key, true)
end

-- Waiting first: by priority and turn or age, as they will be after this script's own changes.
local function first_waiting(key, n)
  local index = limit_key(key, 'waiting')
  local pending, gone = writes.zsets[index] or {}, 0
  for _, score in pairs(pending) do
    if not score then gone = gone + 1 end
  end
  local rows, flat = {}, redis.call('ZRANGE', index, 0, n + gone - 1, 'WITHSCORES')
  for i = 1, #flat, 2 do
    if pending[flat[i]] == nil then rows[#rows + 1] = { flat[i], tonumber(flat[i + 1]) } end
  end
  for member, score in pairs(pending) do
    if score then rows[#rows + 1] = { member, score } end
  end
  table.sort(rows, function(a, b) return a[2] < b[2] or (a[2] == b[2] and a[1] < b[1]) end)
  return rows
end

local ADMIT = 1000

-- Gives the free room of a limit to those who wait for it.
local function admit(key)
  local free = math.min(room_at(key), ADMIT)
  local rows = first_waiting(key, math.max(free, 0) + 1)
  local ids = {}
  for i = 1, math.min(free, #rows) do ids[i] = rows[i][1]:sub(15) end
  fetch_jobs(ids)
  fetch_limits(ids)
  for i, id in ipairs(ids) do
    local doc = find(id)
    if doc and doc.place == 'w' then
      move(id, doc, side.of(doc.queue, doc.class, doc.tag), nil, nil, true)
      if limit(key).settings then
        change(id, doc, fields.reserved_limit, key)
        order.save(key, limit_fields.promised, (limit(key).settings.promised or 0) + 1)
      end
    else
      zset(limit_key(key, 'waiting'), rows[i][1], false)
    end
  end
  return #rows > #ids and rows[#ids + 1][1]:sub(15)
end

-- When room comes by itself: the first lease that ends, the first start that leaves the period.
local function next_room(key)
  local settings = limit(key).settings
  if not settings or settings.paused then return never end
  if (settings.shut or 0) > now then return settings.shut end
  local moment = never
  local function first(part, from, plus)
    local row = redis.call('ZRANGEBYSCORE', limit_key(key, part), '(' .. int(from), '+inf', 'LIMIT', 0, 1, 'WITHSCORES')
    moment = math.min(moment, (tonumber(row[2]) or never) + plus, pending_moment(limit_key(key, part)) + plus)
  end
  if settings.concurrency then first('held', now, 0) end
  if settings.rate then first('window', now - settings.period, settings.period) end
  return moment == never and now + 1000 or moment
end

local function forget_limit(key)
  put(limits[key], 'settings', false)
  set_text(limit_key(key), nil)
  for _, part in ipairs({ 'held', 'window', 'waiting' }) do del(limit_key(key, part)) end
  del(limit_key(key))
  sset(ns .. 'limits', key, false)
end

-- Somebody still waits: the queue of the first of them and the tick must know when to look.
local function watch(key, waiter)
  local moment, doc = next_room(key), find(waiter)
  if moment == never then return end
  if doc then
    local waits = queue(doc.queue).limit_moments or {}
    waits[key] = moment
    change_queue(doc.queue, queue_fields.limit_moments, waits)
  end
  zset(ns .. 'wake', 'k:' .. key, moment)
end

-- Where room may have come free, those who wait come back.
table.insert(consequences, function()
  while next(touched) do
    local keys = touched
    touched = {}
    for key in pairs(keys) do
      local settings = limit(key).settings
      if settings and (settings.auto and (settings.jobs or 0) <= 0 and limit(key).held <= 0 or settings.gone and redis.call('ZCARD', limit_key(key, 'waiting')) == 0) then
        forget_limit(key)
      else
        if settings and settings.reordering then order.go_on_at(key) end
        local waiter = admit(key)
        if waiter then watch(key, waiter) end
        if settings and settings.reordering then zset(ns .. 'wake', 'k:' .. key, now) end
        if settings and settings.rate then put(writes.trims, limit_key(key, 'window'), now - settings.period) end
      end
    end
  end
end)

-- Room may have come free here.
local function touch(key) put(touched, key, true) end

-- A few limits of data from before there were schemas. For an hour after the first look the former version may still write.
-- Answers whether more is left.
local HOUR, LIMITS_AT_ONCE = 3600000, 20
function adopted.go_on()
  local since, cursor = (text_at(schema_key) or ''):match('^0,(%d+),(%d+)$')
  if not since then since, cursor = now_text, '0' end
  local page = redis.call('SSCAN', ns .. 'limits', cursor, 'COUNT', LIMITS_AT_ONCE)
  for _, key in ipairs(page[2]) do limit(key) end
  local further = adopted.is_whole and page[1] or cursor
  local is_over = adopted.is_whole and further == '0' and now - tonumber(since) >= HOUR
  set_text(schema_key, is_over and int(SCHEMA) or '0,' .. since .. ',' .. further)
  raw[schema_key] = writes.strings[schema_key]
  return not adopted.is_whole or further ~= '0'
end

-- The limits of a queue whose moment has come; answers how many.
local function due_limits(q)
  local waits, n = queue(q).limit_moments, 0
  for key, moment in pairs(waits or {}) do
    if moment <= now then
      put(touched, key, true)
      waits[key] = nil
      n = n + 1
    end
  end
  if n > 0 then change_queue(q, queue_fields.limit_moments, next(waits) and waits or nil) end
  return n
end

local function next_limit(q)
  local moment = never
  for _, at_moment in pairs(queue(q).limit_moments or {}) do moment = math.min(moment, at_moment) end
  return moment
end

-- How much one job may lead to: jobs that are there and were born below it, and how deep. What is let go or adopted
-- stays counted where it was born, so nothing gets round this by changing its parent.
function kin.count_birth(id, doc, parent, parent_doc)
  local MAX_BORN, MAX_LEVELS = 100000, 1000
  local root, level = (parent_doc.root_and_level or ''):match('^(%d+),(%d+)$')
  if not root or not find(root) then root, level = parent, 0 end
  local root_doc = find(root)
  local born = (tonumber(root_doc.descendants) or 0) + 1
  if born > MAX_BORN then refuse('LIMITED', 'job ' .. root .. ' led to ' .. MAX_BORN .. ' jobs that still exist: expected no more below one job') end
  if level + 1 > MAX_LEVELS then refuse('LIMITED', 'job ' .. parent .. ' is ' .. MAX_LEVELS .. ' generations below job ' .. root .. ': expected no job deeper') end
  change(root, root_doc, fields.descendants, int(born))
  change(id, doc, fields.root_and_level, root .. ',' .. int(level + 1))
end

-- A job that goes makes room below the one that it was born under, if that is still there.
function kin.uncount_birth(doc)
  local root = doc.root_and_level:match('^%d+')
  local root_doc = find(root)
  local born = root_doc and tonumber(root_doc.descendants)
  if born then change(root, root_doc, fields.descendants, born > 1 and int(born - 1) or nil) end
end
