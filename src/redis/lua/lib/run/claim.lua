-- Lending jobs to runs: which, and under which token.
-- Made when first called.

local claim = {}

local plain = require 'fast/plain'
local ending = require 'job/ending'
local places = require 'job/places'
local queueing = require 'job/queueing'
local states = require 'job/states'
local unique = require 'job/unique'
local values = require 'job/values'
local limits = require 'limit/limits'
local waiting = require 'limit/waiting'
local log = require 'port/log'
local globs = require 'queue/globs'
local sides = require 'queue/sides'
local snapshot = require 'run/snapshot'
local tokens = require 'run/tokens'
local cache = require 'runtime/cache'
local numbers = require 'runtime/numbers'
local redis_keys = require 'runtime/redis_keys'
local tables = require 'runtime/tables'
local tally = require 'runtime/tally'
local time = require 'runtime/time'
local set_value = values.set_value
local change, fetch_jobs, find, queue, zset = cache.change, cache.fetch_jobs, cache.find, cache.queue, cache.zset
local int, never = numbers.int, numbers.never
local queue_key = redis_keys.queue_key
local now, now_text, this_minute = time.now, time.now_text, time.this_minute

local RUNS_A_MINUTE = 600

-- Counts a run; false when the job has run too often this minute. Slots that are made up for are no fault of the job's.
local function guard(id, doc)
  if doc.catch_up_at and (tonumber(doc.next_slot) or never) <= now then return true end
  local at_minute, n
  if doc.runs_this_minute then at_minute, n = doc.runs_this_minute:match('^(%d+):(%d+)$') end
  n = at_minute == this_minute and tonumber(n) + 1 or 1
  if n > RUNS_A_MINUTE then return false end
  change(id, doc, fields.runs_this_minute, this_minute .. ':' .. int(n))
  return true
end

local function stop_runaway(id, doc)
  log.line(id, 'error', cjson.encode({ error = 'Job was terminated due to being called too rapidly' }))
  ending.terminate_one(id, doc)
end

local used_up = { fields.input_during_run, fields.child_during_run, fields.backoff_until, fields.wanted_early, fields.unanswered }

local function lend(id, doc, lease, begun, process)
  for _, field in ipairs(used_up) do
    if doc[field] then change(id, doc, field, nil) end
  end
  if doc.progress then set_value(id, doc, fields.progress, nil) end
  if doc.unique_held == 's' or doc.unique_held == 'b' then unique.free(id, doc) end
  if doc.not_before and tonumber(doc.not_before) <= now then change(id, doc, fields.not_before, nil) end
  if doc.terminating then change(id, doc, fields.terminating, '2') end
  change(id, doc, fields.run_number, doc.run_number or '1')
  change(id, doc, fields.token, tokens.next(id, doc.run_number, doc.repeats and 'r' or ''))
  change(id, doc, fields.lease_until, int(now + lease))
  change(id, doc, fields.lease_length, doc.place == 'p' and int(lease) or nil)
  change(id, doc, fields.process, process)
  change(id, doc, fields.previous_ran_at, doc.ran_at)
  change(id, doc, fields.ran_at, now_text)
  if doc.said_ended_at then change(id, doc, fields.said_ended_at, nil) end
  if doc.redeliver_after then change(id, doc, fields.deliveries, int((tonumber(doc.deliveries) or 0) + 1)) end
  if begun then change(id, doc, fields.begun, '1') end
  places.move(id, doc, 'l', now + lease)
  if sides.is_limited(doc) then limits.take_slots(id, doc) end
  return id
end

-- A job with a tag is lent only to who asks for it.
local function wanted(doc, want)
  return globs.match(doc.class, want.patterns, want.liked) and (not doc.tag or tables.has(want.tags, doc.tag)) and (want.tier == '' or tonumber(doc.priority or 0) == tonumber(want.tier))
end

-- Why a job fails instead of being lent: nobody answered so often, or its class is banned from the queue.
local function given_up(doc, want)
  if doc.max_deliveries and (tonumber(doc.deliveries) or 0) >= tonumber(doc.max_deliveries) then return 'lent ' .. doc.deliveries .. ' times, and nobody answered' end
  local ban = globs.first(doc.class, queue(doc.queue).banned or {}, want.banned)
  if ban then return 'class ' .. doc.class .. ' is banned from queue ' .. doc.queue .. ' by ' .. ban end
end

local function give_up(id, doc, why)
  local error = '{"message":' .. cjson.encode(why) .. ',"reason":"other"}'
  for _, field in ipairs({ fields.next_slot, fields.not_before }) do change(id, doc, field, nil) end
  set_value(id, doc, fields.last_error, error)
  log.line(id, 'error', error, doc)
  ending.finish(id, doc, 'f', error)
end

-- One job by its id, if it is ready.
local function claim_one(want)
  local id, doc = want.only, find(want.only)
  if not doc or doc.queue ~= want.queue or (doc.place and doc.place ~= 'p') or (tonumber(doc.lock_until) or 0) > now then return {}, false, 0, 0 end
  return { lend(id, doc, want.lease, true, want.process) }, false, 0, 0
end

-- Jobs that were tagged by older constraints are not lent before they have been tagged anew.
local MAX_STALE = 100

claim.HEAD = 100
local STEP = 100
local MAX_SCAN = 1000

-- What the snapshots of one claim hold together, in bytes: who asks for more asks again. The first job comes alone.
local MAX_CLAIM = 4194304

-- With one more, who is in front when all of them have gone.
local function members_at(key, want, from, n)
  local queue_record = queue(want.queue)
  if want.tier == '' or queue_record.ageing or queue_record.reordering then return redis.call('ZRANGE', key, from, from + n) end
  return redis.call('ZRANGEBYSCORE', key, want.tier, want.tier, 'LIMIT', from, n + 1)
end

-- Up to `max` jobs by priority and age. A job that was lost before is lent alone, so that whatever took its run down
-- takes nobody else's with it. Answers the ids, whether it stopped before it had seen everything and where, and how many
-- it failed instead.
-- want: { queue, place ('' or 'p'), max, lease, begun (how many start at once), patterns, tags, tier ('' or a priority),
--   skip (how many members to pass over), process (nil or its name), only ('' or an id), calls (how many of classes that call others, -1: any) }
-- head: the first members, where they have been read already.
function claim.jobs(want, head)
  local place = want.place ~= '' and want.place or nil
  if want.only ~= '' then return claim_one(want) end
  local key, ids, from, failed = queue_key(want.queue, states.indexes[place] or 'ready'), {}, want.skip, 0
  local called, calling = want.calls >= 0 and queue(want.queue).called_classes or nil, 0
  local choosy, suits_plain, bytes = #want.patterns > 0 or place == 'p', not called and plain.suits(want), 0
  want.liked, want.banned = {}, {}
  while #ids + failed < want.max and from < want.skip + MAX_SCAN do
    local step = head and math.min(claim.HEAD, want.max) or (choosy and STEP or want.max - #ids)
    local members = head or members_at(key, want, from, step)
    head = nil
    if from == 0 and want.tier == '' then tally.heads[key] = members end
    local candidates, texts, others = {}, {}, {}
    for i = 1, math.min(step, #members) do candidates[i] = members[i]:sub(15) end
    fetch_jobs(candidates)
    for i, id in ipairs(candidates) do
      texts[i] = suits_plain and plain.ready(id, members[i])
      if not texts[i] then others[#others + 1] = id end
    end
    limits.fetch_of(others)
    for i, id in ipairs(candidates) do
      local doc = not texts[i] and find(id)
      if texts[i] then
        ids[#ids + 1] = plain.lend(id, texts[i], members[i], want, #ids < want.begun)
      elseif not doc or doc.place ~= place or places.member_of(id, doc) ~= members[i] then
        zset(key, members[i], false)
      elseif (tonumber(doc.lock_until) or 0) > now then
        queueing.enqueue(id, doc, true)
      elseif not doc.terminating and (doc.constraints_version or '') ~= want.version then
        if #want.stale < MAX_STALE then want.stale[#want.stale + 1] = id end
      elseif globs.steps <= 0 then
        return ids, true, from + i - 1, failed
      elseif wanted(doc, want) then
        if doc.lost_in_a_row and #ids > 0 then return ids, true, from, failed end
        if called and called[doc.class] then
          if calling == want.calls then return ids, true, from, failed end
          calling = calling + 1
        end
        local full = sides.is_limited(doc) and limits.first_full(doc)
        local why = not doc.terminating and given_up(doc, want)
        if why then
          give_up(id, doc, why)
          failed = failed + 1
        elseif full then
          waiting.set_aside(id, doc, full)
        elseif not doc.terminating and not guard(id, doc) then
          stop_runaway(id, doc)
        else
          -- What cannot be weighed cannot be shown either, and is found out then.
          local weighed, weight = pcall(snapshot.weigh, id, doc)
          bytes = bytes + (weighed and weight or 0)
          if bytes > MAX_CLAIM and #ids > 0 then return ids, true, from, failed end
          ids[#ids + 1] = lend(id, doc, place and tonumber(doc.redeliver_after_ms) or want.lease, #ids < want.begun, want.process)
          if doc.lost_in_a_row then return ids, true, from, failed end
        end
      end
      if #ids + failed == want.max then return ids, true, from, failed end
    end
    if #candidates < step then return ids, #want.stale > 0, from, failed end
    from = from + #candidates
  end
  return ids, true, from, failed
end

return claim
