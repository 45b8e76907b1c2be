-- Commits each run of a lane separately, then leases the next jobs to the lane. A claim is a commit without runs.
--
-- by: API, dispatcher
-- reads: constraints, listened, workers
-- updates: audience, channel, days, gone, hints, job, jobs, lane, limit, outbox, processes, queue, quota, result,
--   schema, unique, wake
-- writes: channels, counts, limits, live, log, queues, repeats, rung
-- code: version of the code that performed the runs, or '' if unknown

local queue_name, lane, seq, bell, place = args.take(), args.take(), args.take_int(), args.take(), args.take()
local max, wide, lease, begun = args.take_int(), args.take_int(), args.take_int(), args.take_int()
local leave, waits, warm = args.take(), args.take_int(), args.take_int()
local waiter, wait, only, tier, skip = args.take(), args.take_int(), args.take(), args.take(), args.take_int()
local calls, process, careful, code = args.take_int(), args.take(), args.take(), args.take()

local patterns, tags, has_heard = args.take_list(), args.take_list(), args.take_list()
local runs, count, keys = {}, args.take_int(), {}

local head
if count == 0 and max > 0 and #patterns == 0 and tier == '' and only == '' and skip == 0 then
  head = redis.call('ZRANGE', redis_keys.queue(queue_name, place == 'p' and 'ready:pull' or 'ready'), 0,
    math.min(claim.HEAD, max))
  local first = claim.first_of(head, math.min(claim.HEAD, max), max, wide)
  for i = 1, #first do KEYS[#KEYS + 1] = first[i] end
end
cache.fetch(KEYS)
cache.makes_room = queue_name == internal.BULK
for i = 1, count do runs[i] = finish.take_run(at, code) end
-- A commit by token alone names no queue, so it neither claims nor has a lane.
local served = queue_name ~= '' and cache.queue(queue_name) or { paused = true }
local changing = served.reordering

local function next_due()
  if served.paused then return '' end
  local moment = math.min(served.next_timer or numbers.never, lanes.next_room(queue_name))
  -- The answer also contains the delay, because the caller's clock may differ.
  return moment < numbers.never and numbers.int(moment) .. ' ' .. numbers.int(math.max(0, moment - time.now)) or ''
end

local function enter()
  if not cache.text_at(redis_keys.queue(queue_name)) then return false end
  if served.lanes[bell] then
    lanes.set(queue_name, bell, nil)
    cache.set_text(ns .. 'rung', time.now_text)
  end
  if not served.lanes[lane] and not lanes.has_room(queue_name) then return false end
  if served.warm then standby.cool_down(queue_name, lane) end
  lanes.set(queue_name, lane, time.now + (lease > 0 and lease or lanes.LANE))
  return true
end

if lane ~= '' then
  local last = lanes.last_seq(lane)
  if last and last == seq then
    local lane_record = lanes.last_answer(lane)
    return reply.committed { word = lane_record.word, answers = lane_record.answers,
      claimed = claimed.rows(claim.still_claimed(lane_record.tokens)), next_due = next_due() }
  end
  -- A pull worker uses each key for one request, so another `seq` with the same key is refused.
  if last and (last > seq or place == 'p') then return reply.committed { word = 'stale' } end
end

-- Changes to single jobs come first, because they take jobs out of pieces.
local function commit_all()
  local answers, ended, parents, whole = {}, {}, {}, {}
  for i = 1, #runs do
    if runs[i].piece then
      whole[#whole + 1] = i
    else
      ended[#ended + 1] = runs[i].id
    end
  end
  cache.fetch_jobs(ended)
  for i = 1, #ended do
    local doc = cache.find(ended[i])
    if doc and doc.parent then parents[#parents + 1] = doc.parent end
    if doc and doc.followed_as then wires.wired_to(doc, parents) end
    if doc and doc.unique_scope then keys[#keys + 1] = ns .. 'unique:' .. doc.unique_scope end
  end
  cache.fetch_jobs(parents)
  cache.fetch(keys)
  sides.fetch_limits_of(ended)
  for i, run in ipairs(runs) do
    answers[i] = not run.piece and finish.commit(run, lane)
  end
  runs.apart = #runs - #whole
  for _, i in ipairs(whole) do
    local run = runs[i]
    local ended_together = packed.finish(run, lane)
    answers[i] = 'completed'
    if ended_together ~= run.mask then
      runs.apart = runs.apart + 1
      answers[i] = finish.each(run, lane, ended_together or '')
    end
  end
  return answers
end
local answers = commit_all()

-- Pull workers have a record like a lane, but do not count as lanes.
local laned = lane ~= '' and place ~= 'p'
local entered = laned and enter()
-- A worker with a signal (`quiet` or `stop`) gets no jobs, and its claim does not wait.
local signal = process ~= '' and processes.contact(process, queue_name) or ''
local claims = max > 0 and signal == '' and (entered or not laned) and not served.paused
do
  local moved = 0
  if claims and math.min(served.next_timer or numbers.never, served.next_lease or numbers.never) <= time.now then
    moved = due.timers(queue_name) + due.take_back(queue_name)
  end
  if claims and served.limit_moments then moved = moved + limits.due(queue_name) end
  if claims and changing then moved = moved + resort.go_on(queue_name) end
  work.conclude()
  -- A call with runs to commit has not read the index yet, so the counts show if jobs are ready.
  if claims and laned and not head and claim.finds_nothing(queue_name) then
    head = {}
  elseif runs.apart + moved > 0 and claim.is_overtaken() then
    work.flush(true)
    head = nil
  end
end

local want = {
  queue = queue_name,
  lane = lane,
  place = place,
  max = laned and math.min(max, served.batch or lanes.BATCH) or max,
  wide = laned and not served.batch and math.min(wide, lanes.WIDE) or 0,
  lease = lease,
  begun = begun,
  patterns = patterns,
  tags = tags,
  tier = tier,
  skip = skip,
  only = only,
  version = select(3, hints.known()),
  stale = {},
  calls = calls,
  careful = careful ~= '',
  process = process ~= '' and process or nil,
}
local got = claims and claim.jobs(want, head) or claim.nothing()
local ids, more = got.ids, got.more

if ids[1] then counts.waited(queue_name, claimed.waited(ids[1]), got.n) end
if laned and served.handed then
  claim.add_lent(ids, standby.unheard(queue_name, lane, has_heard, #runs == 0 or leave ~= ''))
end
if waiter ~= '' then
  waiters.stand(queue_name, waiter, patterns, #ids == 0 and signal == '' and time.now + wait or time.now)
end

local word = 'ok'
if laned then
  if not entered then
    word = 'full'
  elseif leave == '' and #ids == 0 and not more and standby.stay_warm(queue_name, lane, warm) then
    word, lanes.waits_until[queue_name] = 'warm', time.now + warm
  elseif leave ~= '' or (#ids == 0 and not more) then
    lanes.set(queue_name, lane, nil)
    if leave == '' then
      lanes.waits_until[queue_name] = time.now + waits
    else
      -- A lane whose time is up also calls the next lane for jobs that wait for a rate, if they may start soon.
      lanes.to_ring[queue_name] =
        math.max(leave == 'next' and 1 or 0, tally.count(queue_name, 'ready'),
        lanes.next_room(queue_name) <= time.now + lanes.LANE and 1 or 0)
    end
    word = 'empty'
  elseif #ids == 0 then
    word = 'more'
  end
  if more and #ids > 0 and lanes.has_room(queue_name) then
    lanes.to_ring[queue_name] = tally.count(queue_name, 'ready') - got.n
  elseif word ~= 'empty' then
    lanes.to_ring[queue_name] = nil
  end
end
bells.ring_all()
-- An answer without jobs for a pull worker is not stored, because the worker asks again with the same key. The answer
-- for a lane that may not start is not stored either.
if entered or (laned and #runs > 0) or (lane ~= '' and #ids > 0) then
  local record = lanes.record_of(seq, word, answers, ids)
  if not laned or word == 'empty' or word == 'full' then
    cache.set_expiring(lanes.key(lane), record, lanes.MINUTE)
  else
    cache.set_text(lanes.key(lane), record)
  end
end
work.flush()

ids = finish.going_on(runs, answers) or ids
return reply.committed { word = word, answers = answers, claimed = ids[1] and claimed.rows(ids) or {},
  rings = bells.rings, next_due = next_due(), stale = want.stale[1] and snapshot.with_documents(want.stale) or {},
  version = want.version, failed = got.failed, seen = got.seen or '', faults = journal.faults, signal = signal }
