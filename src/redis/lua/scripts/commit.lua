-- commit: apply what a lane's runs did, each on its own, then lend the lane its next jobs. A claim is a commit of
-- nothing; a commit by token alone has no lane.
--
-- keys: what is read anyway: the queue, the lane, the jobs, the hints
-- by: API, dispatcher
-- reads: audience, channel, constraints, days, gone, hints, job, jobs, lane, limit, processes, queue, quota, result, schema, unique, wake, workers
-- writes: audience, channel, channels, counts, days, gone, hints, job, jobs, lane, limit, limits, live, log, processes, queue, queues, quota, repeats, result, schema, unique, wake
-- args: ns, clock, seed, queue_name, lane, seq:int, bell, place, max:int, lease:int, begun:int, leave, waits:int, warm:int, waiter, wait:int, only, tier, skip:int, calls:int, process, ...
-- returns: {word, answers, runs, rings, nextDue, jobs to be tagged anew, version of the constraints,
--          failed instead of being lent, seen up to ('' when to the end), faults: [job, what] each,
--          what the process was told}
--          word: 'ok' | 'empty' (the lane has left) | 'warm' (it waits to be called) | 'more' (ask again)
--          | 'full' (no lane free) | 'stale'

-- @include lib/runtime/base
-- @include lib/runtime/store
-- @include lib/job/values
-- @include lib/queue/counts
-- @include lib/runtime/lists
-- @include lib/queue/order
-- @include lib/limit/quota
-- @include lib/job/status
-- @include lib/port/log
-- @include lib/run/lease
-- @include lib/port/ports
-- @include lib/family/tree
-- @include lib/family/follow
-- @include lib/limit/limits
-- @include lib/limit/turns
-- @include lib/queue/aging
-- @include lib/job/create
-- @include lib/queue/waiters
-- @include lib/queue/lanes
-- @include lib/run/ops
-- @include lib/family/branches
-- @include lib/fast/plain
-- @include lib/queue/processes
-- @include lib/run/claim
-- @include lib/run/finish

local lane_key = ns .. 'lane:' .. lane

local patterns, tags = take_list(), take_list()
local runs = {}
for i = 1, take_int() do runs[i] = take_run() end

-- A claim of nothing but the head of the queue reads it first, so that its jobs come with everything else.
local head
if #runs == 0 and max > 0 and #patterns == 0 and tier == '' and only == '' and skip == 0 then
  head = redis.call('ZRANGE', queue_key(queue_name, place == 'p' and 'ready:pull' or 'ready'), 0, math.min(HEAD, max))
  for i = 1, math.min(HEAD, max, #head) do KEYS[#KEYS + 1] = key_of(head[i]:sub(15)) end
end
fetch(KEYS)

local function next_due()
  if queue_name == '' or queue(queue_name).paused then return '' end
  local moment = math.min(queue(queue_name).next_timer or never, next_limit(queue_name))
  -- Also from now on: the clock of who asks may be another one.
  return moment < never and int(moment) .. ' ' .. int(math.max(0, moment - now)) or ''
end

-- The same request again gets the same answer: the answers as kept, the runs as far as they still hold.
local function repeated(record)
  local ids = {}
  for _, token in ipairs(record.t) do
    local id = token:match('^%d+')
    local doc = find(id)
    if doc and doc.token == token then ids[#ids + 1] = id end
  end
  return { record.w, record.a, snapshots(ids), {}, next_due() }
end

local function tokens_of(ids)
  local list = {}
  for i, id in ipairs(ids) do list[i] = tokens[id] end
  return list
end

-- A bell becomes the lane that it woke; a lane that is not known needs a free place.
local function enter()
  -- A bell for a queue that there is not makes none.
  if not text_at(queue_key(queue_name)) then return false end
  local lanes = queue(queue_name).lanes
  if lanes[bell] then set_lane(queue_name, bell, nil) end
  if not lanes[lane] and not side.has_room(queue_name) then return false end
  cool_down(queue_name, lane)
  set_lane(queue_name, lane, now + (lease > 0 and lease or LANE))
  return true
end

if lane ~= '' then
  local text = text_at(lane_key)
  local last = text and tonumber((text:match('^%d+')))
  if last and last == seq then return repeated(cjson.decode((text:match('{.*')))) end
  -- A pull worker's number stands for what it asks for: another one is another question under the same key.
  if last and (last > seq or place == 'p') then return { 'stale', {}, {}, {}, '' } end
end

local answers, ended, parents = {}, {}, {}
for i, run in ipairs(runs) do
  answers[i] = plain.finish(run)
  if not answers[i] then
    local doc = find(run.id)
    if doc and doc.parent then parents[#parents + 1] = doc.parent end
    if doc and doc.followed_as then flows.wired_to(doc, parents) end
    ended[#ended + 1] = run.id
  end
end
fetch_jobs(parents)
fetch_limits(ended)
for i, run in ipairs(runs) do answers[i] = answers[i] or commit(run) end

-- Pull workers serve themselves: they keep a record under a lane's name, and take no lane's place.
local laned = lane ~= '' and place ~= 'p'
local entered = laned and enter()
-- Who was told to take no new jobs gets none, and nobody calls it.
local told = process ~= '' and processes.heard(process, queue_name) or ''
local claims = max > 0 and told == '' and (entered or not laned) and not (queue_name ~= '' and queue(queue_name).paused)
local moved = claims and due_timers(queue_name) + take_back(queue_name) + due_limits(queue_name) + side.move_on(queue_name) + order.go_on(queue_name) or 0
if #runs + moved > 0 then
  flush(true)
  head = nil
end

local ids, more, seen, failed, stale = {}, false, 0, 0, {}
local _, _, version = hints()
if claims then
  local most = laned and math.min(max, queue(queue_name).batch or BATCH) or max
  ids, more, seen, failed = claim({
    queue = queue_name,
    place = place,
    max = most,
    lease = lease,
    begun = begun,
    patterns = patterns,
    tags = tags,
    tier = tier,
    skip = skip,
    only = only,
    version = version,
    stale = stale,
    calls = calls,
    process = process ~= '' and process or nil,
  }, head)
end

if ids[1] then history.waited(queue_name, plain.waited(ids[1]), #ids) end
if waiter ~= '' then stand(queue_name, waiter, patterns, #ids == 0 and told == '' and now + wait or now) end

local word = 'ok'
if laned then
  if not entered then
    word = 'full'
  elseif leave == '' and #ids == 0 and not more and stay_warm(queue_name, lane, warm) then
    word, side.waits_until[queue_name] = 'warm', now + warm
  elseif leave ~= '' or (#ids == 0 and not more) then
    set_lane(queue_name, lane, nil)
    if leave == '' then side.waits_until[queue_name] = now + waits end
    -- Who waits for a rate is not ready, and a moment of it may be near: the next lane waits for that.
    -- A lane whose time is over while work keeps coming calls for the next one, ready or not.
    if leave ~= '' then to_ring[queue_name] = math.max(leave == 'next' and 1 or 0, redis.call('ZCARD', queue_key(queue_name, 'ready')), next_limit(queue_name) <= now + LANE and 1 or 0) end
    word = 'empty'
  elseif #ids == 0 then
    word = 'more'
  end
  if more and #ids > 0 and side.has_room(queue_name) then
    to_ring[queue_name] = redis.call('ZCARD', queue_key(queue_name, 'ready')) - #ids
  elseif word ~= 'empty' then
    to_ring[queue_name] = nil
  end
end
ring_all()
ring_timers()
-- A pull worker that got nothing asks again under the same key until it gets something; who was not let in has none to keep.
if entered or (laned and #runs > 0) or (lane ~= '' and #ids > 0) then
  local record = int(seq) .. ' ' .. cjson.encode({ w = word, a = answers, t = tokens_of(ids) })
  if not laned or word == 'empty' or word == 'full' then set_expiring(lane_key, record, MINUTE) else set_text(lane_key, record) end
end
flush()

local again = {}
for i, run in ipairs(runs) do
  local doc = run.ending == 'checkpoint' and answers[i] == 'running' and find(run.id)
  if doc and doc.token == run.token then again[#again + 1] = run.id end
end
return { word, answers, snapshots(#again > 0 and again or ids), rings, next_due(), with_documents(stale), version, int(failed), more and int(seen) or '', work.faults, told }
