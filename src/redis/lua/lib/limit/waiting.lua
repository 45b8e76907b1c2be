function waiting.set_aside(id, doc, key)
  if not states.is_ready(doc) and doc.place ~= PLACE.limited then places.queue_up(id, doc) end
  places.move(id, doc, PLACE.limited, nil, key)
  limits.touch(key)
end

local function first_waiting(key, n)
  local index = redis_keys.limit(key, 'waiting')
  local pending, gone = cache.writes.zsets[index] or {}, 0
  for _, score in pairs(pending) do gone = gone + (score and 0 or 1) end
  local rows, flat = {}, redis.call('ZRANGE', index, 0, n + gone - 1, 'WITHSCORES')
  for i = 1, #flat, 2 do
    if pending[flat[i]] == nil then rows[#rows + 1] = { flat[i], tonumber(flat[i + 1]) } end
  end
  for member, score in pairs(pending) do
    if score then rows[#rows + 1] = { member, score } end
  end
  tables.sort_by_score(rows)
  return rows
end

-- Number of jobs that this call may still release or sort again, at all limits together.
local may_move = 1000

-- A job of a paused queue reserves no slot, because jobs of other queues can use it.
local function admit(key, settings, most)
  local free = limits.room_at(key)
  local rows = first_waiting(key, math.max(most, 0) + 1)
  local ids, at_row = {}, 0
  for i = 1, math.min(most, #rows) do ids[i] = rows[i][1]:sub(15) end
  may_move = may_move - #ids
  cache.fetch_jobs(ids)
  sides.fetch_limits_of(ids)
  while at_row < #ids and free > 0 do
    at_row = at_row + 1
    local id = ids[at_row]
    local doc = cache.find(id)
    if doc and doc.place == PLACE.limited then
      places.move(id, doc, sides.of(doc), nil, nil, true)
      if settings and not cache.queue(doc.queue).paused then
        cache.change(id, doc, fields.reserved_limit, key)
        limits.save(key, limit_fields.promised, (settings.promised or 0) + 1)
        free = free - 1
      end
    else
      cache.zset(redis_keys.limit(key, 'waiting'), rows[at_row][1], false)
    end
  end
  return #rows > at_row and rows[at_row + 1][1]:sub(15)
end

local function admit_all(key, settings)
  local most, waiter = limits.room_at(key), nil
  repeat
    waiter = admit(key, settings, math.min(most, may_move))
    most = 10 * most
  until not waiter or limits.room_at(key) <= 0 or may_move <= 0
  return waiter
end

-- Keeps the slots of a removed limit, because current runs release these slots when they end.
local function forget_limit(key, is_removed)
  journal.put(limits.known[key], 'settings', false)
  cache.set_text(redis_keys.limit(key), nil)
  if not is_removed then cache.del(redis_keys.limit(key, 'held')) end
  for _, part in ipairs({ false, 'window', 'waiting' }) do cache.del(redis_keys.limit(key, part)) end
  cache.sset(ns .. 'limits', key, false)
end

local function watch(key, waiter)
  local moment = limits.room_at(key) > 0 and time.now or limits.next_room(key)
  local doc = cache.find(waiter)
  if moment == numbers.never then return end
  if doc then
    local waits = cache.queue(doc.queue).limit_moments or {}
    waits[key] = moment
    cache.change_queue(doc.queue, queue_fields.limit_moments, waits)
  end
  limits.check_at(key, moment)
end

function waiting.give_room()
  while next(limits.touched) do
    local keys = limits.touched
    limits.touched = {}
    for key in pairs(keys) do
      local state = limits.at(key)
      local settings = state.settings
      if settings and (settings.auto and (settings.jobs or 0) <= 0 and state.taken <= 0 or settings.gone
        and limits.count_in_line(key) == 0) then
        forget_limit(key, settings.gone)
      else
        if settings and settings.reordering and may_move > 0 then may_move = may_move - resort.go_on_at(key) end
        local waiter = admit_all(key, settings)
        if waiter then watch(key, waiter) end
        if settings then
          if settings.reordering then limits.check_at(key, time.now) end
          if settings.rate then
            journal.put(cache.writes.trims, redis_keys.limit(key, 'window'), time.now - settings.period)
          end
          local running = waiter and (rawget(state, 'taken') or settings.running or state.taken) or nil
          if not waiter and settings.waiting ~= 0 then limits.save(key, limit_fields.waiting, 0) end
          if settings.running ~= running then limits.save(key, limit_fields.running, running) end
        end
      end
    end
  end
end
