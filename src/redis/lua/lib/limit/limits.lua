limits.known = {} -- key → state with `settings`, and counts that are read when needed
limits.touched = {} -- key → true if a slot may have become free
limits.has_due = false
function limits.check_at(key, moment)
  limits.has_due = limits.has_due or moment <= time.now
  cache.zset(ns .. 'wake', 'k:' .. key, moment)
end
function limits.touch(key) journal.put(limits.touched, key, true) end

-- A run calls a service some time after its claim, so the limit counts its start later. Otherwise the service could
-- receive the starts of two periods in one period.
local function margin(settings, late) return late + math.max(math.min(settings.period * 0.03, 100), 3 * late) end

local counts_of = {
  taken = function(state)
    return redis.call('ZCOUNT', redis_keys.limit(state.key, 'held'), '(' .. time.now_text, '+inf')
  end,
  started = function(state)
    return state.settings.rate
      and redis.call('ZCOUNT', redis_keys.limit(state.key, 'window'),
      '(' .. numbers.int(time.now - state.settings.period), '+inf') or 0
  end,
}

local counting = {}

function counting.__index(state, name)
  if not state.settings or not counts_of[name] then return nil end
  state[name] = counts_of[name](state)
  return state[name]
end

local numeric = limit_kinds

local function settings_in(key, text)
  local settings = readable.decode(text, key)
  if not settings then return false end
  for field in pairs(numeric) do
    if type(settings[field] or 0) ~= 'number' then return readable.note(key, text) end
  end
  return (not settings.rate or settings.period) and settings or readable.note(key, text)
end

function limits.at(key)
  local state = limits.known[key]
  if state then return state end
  local at = redis_keys.limit(key)
  local text = cache.text_at(at)
  state = setmetatable({ key = key, settings = text and settings_in(at, text) or false }, counting)
  limits.known[key] = state
  return state
end

function limits.of(key) return limits.at(key).settings end

function limits.count_in_line(key) return redis.call('ZCARD', redis_keys.limit(key, 'waiting')) end

function limits.save(key, field, value)
  journal.put(limits.of(key), field, value)
  cache.set_text(redis_keys.limit(key), cjson.encode(limits.of(key)))
end

function limits.count_waiting(q, key, n)
  local settings = limits.of(key)
  cache.change_queue(q, queue_fields.at_limits, (cache.queue(q).at_limits or 0) + n)
  if not settings or not settings.waiting then return end
  local waiting = settings.waiting + n
  if (settings.waiting == 0) ~= (waiting == 0) then
    limits.save(key, limit_fields.waited_since, waiting > 0 and time.now or nil)
  end
  limits.save(key, limit_fields.waiting, waiting)
end

function limits.room_at(key)
  local state = limits.at(key)
  local settings = state.settings
  if not settings or settings.open then return numbers.never end
  if settings.paused or (settings.shut or 0) > time.now then return 0 end
  local promised = settings.promised or 0
  return math.min((settings.concurrency or numbers.never) - state.taken - promised,
    (settings.rate or numbers.never) - state.started - promised)
end

function limits.first_full(doc)
  for _, key in ipairs(sides.limits_of(doc)) do
    if limits.room_at(key) + (doc.reserved_limit == key and 1 or 0) < 1 then return key end
  end
end

-- A run takes slots only of the limits that exist at its claim.
function limits.take_slots(id, doc)
  local taken = {}
  for _, key in ipairs(sides.limits_of(doc)) do
    local state = limits.at(key)
    if state.settings then
      taken[#taken + 1] = key
      cache.zset(redis_keys.limit(key, 'held'), id, tonumber(doc.lease_until))
      journal.put(state, 'taken', state.taken + 1)
      if state.settings.rate then
        cache.zset(redis_keys.limit(key, 'window'), doc.token, time.now + margin(state.settings, 0))
        journal.put(state, 'started', state.started + 1)
      end
    end
  end
  if #taken > 0 then cache.change(id, doc, fields.held_limits, table.concat(taken, '\n')) end
end

function limits.note_start(doc, late)
  for _, key in ipairs(tables.lines(doc.held_limits)) do
    local settings = limits.of(key)
    if settings and settings.rate then
      local moment = math.min(time.now, doc.ran_at + margin(settings, late))
      if moment > time.now - settings.period then cache.zset(redis_keys.limit(key, 'window'), doc.token, moment) end
    end
  end
end

function limits.release_slots(id, doc)
  for _, key in ipairs(tables.lines(doc.held_limits)) do
    local state = limits.at(key)
    cache.zset(redis_keys.limit(key, 'held'), id, false)
    if state.settings and tonumber(doc.lease_until) > time.now then journal.put(state, 'taken', state.taken - 1) end
    limits.touch(key)
  end
  cache.change(id, doc, fields.held_limits, nil)
end

function limits.renew_slots(id, doc, sooner)
  for _, key in ipairs(tables.lines(doc.held_limits)) do
    cache.zset(redis_keys.limit(key, 'held'), id, tonumber(doc.lease_until))
    if sooner and limits.room_at(key) < 1 then limits.touch(key) end
  end
end

function limits.drop_baton(id, doc)
  local key = doc.reserved_limit
  cache.change(id, doc, fields.reserved_limit, nil)
  local settings = limits.of(key)
  if settings then limits.save(key, limit_fields.promised, math.max(0, (settings.promised or 0) - 1)) end
  limits.touch(key)
end

function limits.define(key, settings, how)
  local state = limits.at(key)
  if not state.settings then
    if how == 'first' then journal.put(state, 'taken', 0) end
    journal.put(state, 'started', 0)
    journal.put(state, 'settings', {})
    cache.sset(ns .. 'limits', key, true)
  elseif how == 'first' then
    return
  end
  if state.settings.open then
    limits.save(key, limit_fields.open, nil)
    limits.save(key, limit_fields.reordering, '0')
  end
  for field, value in pairs(settings) do
    if state.settings[field] ~= value then limits.save(key, field, value or nil) end
  end
  limits.touch(key)
end

function limits.remove(key)
  limits.define(key, { concurrency = false, rate = false, period = false, paused = false, auto = false, fixed = false,
    gone = 1 })
end

function limits.count_in_group(doc, n)
  local key = 'group:' .. doc.group
  limits.define(key, { concurrency = tonumber(doc.group_concurrency), auto = 1 }, 'first')
  limits.save(key, limit_fields.jobs, (limits.of(key).jobs or 0) + n)
  limits.touch(key)
end

local MAX_DUE = 100
function limits.due(q)
  local waits, n = cache.queue(q).limit_moments, 0
  for key, moment in pairs(waits or {}) do
    if moment <= time.now and n < MAX_DUE then
      limits.touch(key)
      waits[key] = nil
      n = n + 1
    end
  end
  if n > 0 then cache.change_queue(q, queue_fields.limit_moments, next(waits) and waits or nil) end
  return n
end

function limits.next_room(key)
  local settings = limits.at(key).settings
  if not settings or settings.paused then return numbers.never end
  if (settings.shut or 0) > time.now then return settings.shut end
  local moment = numbers.never
  local function first(part, from, plus)
    moment = math.min(moment, cache.next_moment(redis_keys.limit(key, part), from) + plus)
  end
  if settings.concurrency then first('held', time.now, 0) end
  if settings.rate then first('window', time.now - settings.period, settings.period) end
  return moment == numbers.never and time.now + 1000 or moment
end
