-- Lanes and bells of a queue, and the one index that says when somebody must look at it.

-- Queue → until when a lane that found nothing waits by itself.
side.waits_until = {}

local BELL, LANE, MINUTE = 20000, 45000, 60000
local MAX_LANES, BATCH = 4, 100
-- A lane has as many runs that call others at once: where there are such, more lanes come instead.
local CALLS, CALLING_LANES = 4, 8

local function purge_lanes(q)
  local doc = queue(q)
  for lane, till in pairs(doc.l) do
    if till <= now then
      put(doc.l, lane, nil)
      put(queue_dirty, q, true)
      put(writes.expires, ns .. 'lane:' .. lane, MINUTE)
    end
  end
end

local function lane_count(q)
  purge_lanes(q)
  local n = 0
  for _ in pairs(queue(q).l) do n = n + 1 end
  return n
end

-- How many lanes may serve a queue, and whether another one may come.
function side.most_lanes(doc) return doc.ml or (doc.cl and CALLING_LANES or MAX_LANES) end
function side.has_room(q) return lane_count(q) < side.most_lanes(queue(q)) end

local function set_lane(q, lane, till)
  put(queue(q).l, lane, till)
  put(queue_dirty, q, true)
end

local bells = 0
local rings = {} -- what the caller must ring: { queue, bell, at }
local function new_bell()
  bells = bells + 1
  return 'bell' .. seed .. bells
end

local function bells_of(doc)
  local n = 0
  for lane in pairs(doc.l) do if lane:find('^bell') then n = n + 1 end end
  return n
end

-- As many bells as it takes for the ready work, within the lanes that the queue may have.
local function ring(q, ready)
  local doc = queue(q)
  if doc.paused then return end
  local batch, there, most = doc.b or BATCH, lane_count(q), side.most_lanes(doc)
  -- Lanes that wait for those whom they call do not come back for more: only bells that are on their way count.
  local missing = doc.cl and math.min(most - there, math.ceil(ready / math.min(batch, CALLS)) - bells_of(doc)) or math.min(most, math.ceil(ready / batch)) - there
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
local function next_call(q, doc)
  local room = next_limit(q)
  if lane_count(q) > 0 or room <= (side.waits_until[q] or 0) then room = never end
  return math.min(doc.nt or never, room)
end

-- What is within the next minute gets a bell for that very moment, unless an earlier one is on its way.
local function ring_timers()
  for q, doc in pairs(queues) do
    local moment = doc.paused and never or next_call(q, doc)
    if moment > now and moment <= now + MINUTE and not (doc.tb and doc.tb > now and doc.tb <= moment) then
      change_queue(q, 'tb', moment)
      rings[#rings + 1] = { q, new_bell(), int(moment) }
    end
  end
end

-- The earliest moment at which the tick has to look at a queue if nobody else did.
local function moment_of_queue(doc)
  local moment = (doc.mv or doc.so) and now or math.min(doc.nl or never, doc.nr or never)
  for _, till in pairs(doc.l) do moment = math.min(moment, till) end
  if doc.nt then
    local rung = doc.tb and doc.tb > now and doc.tb <= doc.nt
    moment = math.min(moment, rung and doc.nt + BELL or math.max(now, doc.nt - MINUTE))
  end
  return moment
end

table.insert(before_flush, function(more_to_come)
  for q in pairs(more_to_come and {} or queue_dirty) do
    local doc = queues[q]
    local moment = moment_of_queue(doc)
    if moment < (doc.wk or never) then
      doc.wk = moment
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
  local late = doc.ns and now - tonumber(doc.ns) > SLOT_GRACE and not doc.ey
  if late and (get_value(id, doc, 'rp') or ''):find('"missed":"skip"', 1, true) then change(id, doc, 'ms', '1') end
end

local function due_timers(q)
  local ids, key = due(q, 'timers', 'nt')
  for _, id in ipairs(ids) do
    local doc = find(id)
    if doc and doc.z == 't' then
      miss_slot(id, doc)
      enqueue(id, doc)
    else
      zset(key, id, false)
    end
  end
  return #ids
end

local function take_back(q)
  local ids, key = due(q, 'leases', 'nl')
  for _, id in ipairs(ids) do
    local doc = find(id)
    if not doc or doc.z ~= 'l' then
      zset(key, id, false)
    elseif tonumber(doc.le) > now then
      move(id, doc, 'l', tonumber(doc.le))
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
  if not queue(q).mv then return 0 end
  local at_side, from, moved = queue(q).mv:match('^(%a):(%d+):(%d+)$')
  local place, n = at_side == 'p' and 'p' or nil, 0
  local members, ids = redis.call('ZREVRANGE', queue_key(q, indexes[place] or 'ready'), from, from + SLICE - 1), {}
  for i, member in ipairs(members) do ids[i] = member:sub(15) end
  fetch_jobs(ids)
  for _, id in ipairs(ids) do
    local doc = find(id)
    if doc and doc.z == place and side.of(q, doc.c, doc.tg) ~= place then
      move(id, doc, side.of(q, doc.c, doc.tg), nil, nil, true)
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
  change_queue(q, 'mv', further)
  return n
end

-- Begins anew with moving what waits; the first slices of it at once, the others with claims and ticks.
function side.serve_anew(q)
  change_queue(q, 'mv', 'r:0:0')
  for _ = 1, 4 do
    side.move_on(q)
    flush(true)
  end
end
