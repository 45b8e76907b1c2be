-- Lanes and bells of a queue, and the one index that says when somebody must look at it.

-- Queue → until when a lane that found nothing waits by itself.
side.waits_until = {}

local BELL, LANE, MINUTE = 20000, 45000, 60000
local MAX_LANES, BATCH = 4, 100
-- A lane has as many runs that call others at once: where there are such, more lanes come instead.
local CALLS, CALLING_LANES = 4, 8

local function purge_lanes(q)
  local queue_record = queue(q)
  for lane, till in pairs(queue_record.lanes) do
    if till <= now then
      put(queue_record.lanes, lane, nil)
      put(queue_dirty, q, true)
      put(writes.expires, ns .. 'lane:' .. lane, MINUTE)
    end
  end
end

local function lane_count(q)
  purge_lanes(q)
  local n = 0
  for _ in pairs(queue(q).lanes) do n = n + 1 end
  return n
end

-- How many lanes may serve a queue, and whether another one may come.
function side.most_lanes(queue_record) return queue_record.most_lanes or (queue_record.called_classes and CALLING_LANES or MAX_LANES) end
function side.has_room(q) return lane_count(q) < side.most_lanes(queue(q)) end

local function set_lane(q, lane, till)
  put(queue(q).lanes, lane, till)
  put(queue_dirty, q, true)
end

local bells = 0
local rings = {} -- what the caller must ring: { queue, bell, at }
local function new_bell()
  bells = bells + 1
  return 'bell' .. seed .. bells
end

local function bells_of(queue_record)
  local n = 0
  for lane in pairs(queue_record.lanes) do if lane:find('^bell') then n = n + 1 end end
  return n
end

-- The lane that waits for work, and that is called instead of ringing a bell.
local function warm_lane(q)
  local lane, till = (queue(q).warm or ''):match('^(%S+) (%d+)$')
  if not lane or tonumber(till) <= now then return nil end
  return lane
end

-- A lane that has found nothing waits for what comes, where work comes that often: nothing was left no longer ago than it
-- would wait. One lane of a queue does.
local function stay_warm(q, lane, period)
  local emptied = queue(q).emptied or 0
  change_queue(q, queue_fields.emptied, now)
  if queue(q).paused or now - emptied >= period or warm_lane(q) then return false end
  change_queue(q, queue_fields.warm, lane .. ' ' .. int(now + period))
  set_lane(q, lane, now + period + BELL)
  return true
end

-- It does not wait any more, for it is at work or leaves.
local function cool_down(q, lane)
  if (queue(q).warm or ''):sub(1, #lane + 1) == lane .. ' ' then change_queue(q, queue_fields.warm, nil) end
end

-- Calls the lane that waits, and counts on it as on a bell that is on its way; answers how many were called.
local function call_lane(q)
  local lane = warm_lane(q)
  if not lane then return 0 end
  push(writes.messages, { ns .. 'call:' .. lane, 'ready' })
  cool_down(q, lane)
  set_lane(q, lane, now + BELL)
  return 1
end

-- As many bells as it takes for the ready work, within the lanes that the queue may have.
local function ring(q, ready)
  local queue_record = queue(q)
  if queue_record.paused then return end
  local called = ready > 0 and call_lane(q) or 0
  local batch, there, most = queue_record.batch or BATCH, lane_count(q), side.most_lanes(queue_record)
  -- Lanes that wait for those whom they call do not come back for more: only bells that are on their way count.
  local missing = queue_record.called_classes and math.min(most - there, math.ceil(ready / math.min(batch, CALLS)) - bells_of(queue_record) - called) or math.min(most, math.ceil(ready / batch)) - there
  for _ = 1, missing do
    local bell = new_bell()
    set_lane(q, bell, now + BELL)
    rings[#rings + 1] = { q, bell, '' }
  end
end

local function ring_all()
  conclude()
  for q, ready in pairs(to_ring) do ring(q, ready) end
  to_ring = {}
end

-- When somebody must come: a timer is due, or a limit has room and no lane of the queue waits for that.
local function next_call(q, queue_record)
  local room = next_limit(q)
  if lane_count(q) > 0 or room <= (side.waits_until[q] or 0) then room = never end
  return math.min(queue_record.next_timer or never, room)
end

-- What is within the next minute gets a bell for that very moment, unless an earlier one is on its way.
local function ring_timers()
  for q, queue_record in pairs(queues) do
    local moment = queue_record.paused and never or next_call(q, queue_record)
    if moment > now and moment <= now + MINUTE and not (queue_record.timer_bell and queue_record.timer_bell > now and queue_record.timer_bell <= moment) then
      change_queue(q, queue_fields.timer_bell, moment)
      rings[#rings + 1] = { q, new_bell(), int(moment) }
    end
  end
end

-- The earliest moment at which the tick has to look at a queue if nobody else did.
local function moment_of_queue(queue_record)
  local moment = (queue_record.moving or queue_record.reordering) and now or math.min(queue_record.next_lease or never, queue_record.next_removal or never)
  for _, till in pairs(queue_record.lanes) do moment = math.min(moment, till) end
  if queue_record.next_timer then
    local rung = queue_record.timer_bell and queue_record.timer_bell > now and queue_record.timer_bell <= queue_record.next_timer
    moment = math.min(moment, rung and queue_record.next_timer + BELL or math.max(now, queue_record.next_timer - MINUTE))
  end
  return moment
end

table.insert(before_flush, function(more_to_come)
  for q in pairs(more_to_come and {} or queue_dirty) do
    local queue_record = queues[q]
    local moment = moment_of_queue(queue_record)
    if moment < (queue_record.wake_at or never) then
      queue_record.wake_at = moment
      zset(ns .. 'wake', 'q:' .. q, moment)
    end
    if raw[queue_key(q)] == false then
      sset(ns .. 'queues', q, true)
      raw[queue_key(q)] = ''
    end
  end
end)

local SLICE = 1000

-- The due members of a time index, and the moment of the next one behind them.
local function due(q, index, field)
  local moment = queue(q)[field]
  if not moment or moment > now then return {}, nil end
  local key = queue_key(q, index)
  local ids = redis.call('ZRANGEBYSCORE', key, '-inf', int(now), 'LIMIT', 0, SLICE)
  local next_one = #ids < SLICE and redis.call('ZRANGEBYSCORE', key, '(' .. int(now), '+inf', 'LIMIT', 0, 1, 'WITHSCORES')
  local next_moment = next_one and math.min(tonumber(next_one[2]) or never, pending_moment(key)) or now
  change_queue(q, field, next_moment < never and next_moment or nil)
  fetch_jobs(ids)
  return ids, key
end

-- A slot that nobody looked at in time, of a repeat that runs no such slots: who is lent the job works out the next one.
local SLOT_GRACE = 300000
local function miss_slot(id, doc)
  local late = doc.next_slot and now - tonumber(doc.next_slot) > SLOT_GRACE and not doc.wanted_early
  if late and (get_value(id, doc, fields.repeats) or ''):find('"missed":"skip"', 1, true) then change(id, doc, fields.slot_missed, '1') end
end

local function due_timers(q)
  local ids, key = due(q, 'timers', queue_fields.next_timer)
  for _, id in ipairs(ids) do
    local doc = find(id)
    if doc and doc.place == 't' then
      miss_slot(id, doc)
      enqueue(id, doc)
    else
      zset(key, id, false)
    end
  end
  return #ids
end

local function take_back(q)
  local ids, key = due(q, 'leases', queue_fields.next_lease)
  for _, id in ipairs(ids) do
    local doc = find(id)
    if not doc or doc.place ~= 'l' then
      zset(key, id, false)
    elseif tonumber(doc.lease_until) > now then
      move(id, doc, 'l', tonumber(doc.lease_until))
    else
      lose(id, doc)
    end
  end
  return #ids
end

-- One slice of the jobs that wait on the other side since somebody else serves them, looked for from the last one on, so
-- that claims, which take from the front, do not shift them. A pass that has moved something is followed by another.
-- The queue keeps how far that is: the side, how many have been passed over, how many moved.
function side.move_on(q)
  if not queue(q).moving then return 0 end
  local at_side, from, moved = queue(q).moving:match('^(%a):(%d+):(%d+)$')
  local place, n = at_side == 'p' and 'p' or nil, 0
  local members, ids = redis.call('ZREVRANGE', queue_key(q, indexes[place] or 'ready'), from, from + SLICE - 1), {}
  for i, member in ipairs(members) do ids[i] = member:sub(15) end
  fetch_jobs(ids)
  for _, id in ipairs(ids) do
    local doc = find(id)
    if doc and doc.place == place and side.of(q, doc.class, doc.tag) ~= place then
      move(id, doc, side.of(q, doc.class, doc.tag), nil, nil, true)
      n = n + 1
    end
  end
  moved = int(moved + n)
  local further
  if #members == SLICE then
    further = at_side .. ':' .. int(from + SLICE - n) .. ':' .. moved
  elseif not place then
    further = 'p:0:' .. moved
  elseif moved ~= '0' then
    further = 'r:0:0'
  end
  change_queue(q, queue_fields.moving, further)
  return n
end

-- Begins anew with moving what waits; the first slices of it at once, the others with claims and ticks.
function side.serve_anew(q)
  change_queue(q, queue_fields.moving, 'r:0:0')
  for _ = 1, 4 do
    side.move_on(q)
    flush(true)
  end
end
