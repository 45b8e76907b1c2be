-- What becomes of a job whose run did not succeed. A run either commits or has had no effect, so whatever happened to
-- it, its
-- input still waits and it may be tried again. A job comes here in one of six ways:
--
-- 1. fail      The function threw, took too long, or a push worker answered with an error. The failure is counted.
-- What
--                was asked for with the commit says after how long it is tried again; nothing said, the job has failed:
-- its error is kept, and its parent and its callback hear of it. One that repeats goes on to its next slot.
-- 2. refused   The run did something that a rule forbids. That is a failure too, tried again only where another time
-- may
--                be a better one: a name that is taken, a target that is gone, a fault of ours.
-- 3. lose      Its lease ended and nobody committed: whoever had it is gone. No failure is counted, for it may never
-- have
--                run. It waits longer each time, is claimed apart from others, and fails after ten in a row,
--                or as many as its class says. A run that had not begun costs nothing.
--   4. redeliver The same, of a job that says itself when it goes to somebody else: at once, as often as it says.
-- 5. conflict  Somebody took what the run had read. It comes again at once with what is there now, and from the
-- fourth
--                time in a row on later each time.
-- 6. release   It was given back unperformed: the deployment does not know its class, or its host is down. It comes
-- again
--                when whoever gave it back says, and nothing is counted.
--
-- In all of them the lease ends, what is told of the run stands in `last_run`, and a job that is to terminate does so
-- instead.
-- Waiting stands in `backoff_until`, which nothing shortens but force. How long: run/backoff.lua and src/core/retry.ts.

local retry = {}

local ending = require 'job/ending'
local queueing = require 'job/queueing'
local results = require 'job/results'
local states = require 'job/states'
local values = require 'job/values'
local log = require 'port/log'
local counts = require 'queue/counts'
local sides = require 'queue/sides'
local backoff = require 'run/backoff'
local leases = require 'run/leases'
local slots = require 'run/slots'
local cache = require 'runtime/cache'
local numbers = require 'runtime/numbers'
local time = require 'runtime/time'

local MAX_LOST = 10
local function most_lost(doc) return tonumber(doc.max_lost) or MAX_LOST end

local function redeliver(id, doc, since)
  cache.change(id, doc, fields.lost_runs, numbers.int((tonumber(doc.lost_runs) or 0) + 1))
  cache.change(id, doc, fields.unanswered, '1')
  leases.finish(id, doc)
  if doc.terminating then return ending.terminate_now(id, doc) end
  queueing.enqueue(id, doc, true, since)
end

-- Returns whether a lost run is retried: by the job's own setting, or the default.
local function has_tries(doc)
  if doc.redeliver_after then
    return not doc.max_deliveries or (tonumber(doc.deliveries) or 0) < tonumber(doc.max_deliveries)
  end
  return not doc.begun or (tonumber(doc.lost_in_a_row) or 0) + 1 < most_lost(doc)
end

local LOST = '{"message":"run lost: no commit before its lease ended","reason":"other"}'

function retry.lose(id, doc)
  counts.add(doc.queue, doc.class, 'lost')
  leases.note_run(id, doc, 'lost', { error = LOST, again = not doc.terminating and has_tries(doc) })
  leases.uncount_run(id, doc)
  if doc.redeliver_after then return redeliver(id, doc, tonumber(doc.lease_until)) end
  if doc.begun then
    log.keep(id, 'error', LOST, doc)
    cache.change(id, doc, fields.lost_runs, numbers.int((tonumber(doc.lost_runs) or 0) + 1))
    cache.change(id, doc, fields.lost_in_a_row, numbers.int((tonumber(doc.lost_in_a_row) or 0) + 1))
  else
    cache.change(id, doc, fields.lost_in_a_row, doc.lost_in_a_row or '0')
  end
  leases.finish(id, doc)
  if doc.terminating then return ending.terminate_now(id, doc) end
  local lost = tonumber(doc.lost_in_a_row)
  if lost >= most_lost(doc) then
    local error = '{"message":"lost ' .. numbers.int(lost) .. ' times: the run never answered","reason":"other"}'
    values.set_value(id, doc, fields.last_error, error)
    return ending.finish(id, doc, 'f', error)
  end
  cache.change(id, doc, fields.backoff_until, lost > 0 and numbers.int(time.now + backoff.lost(lost)) or nil)
  queueing.enqueue(id, doc, true)
end

-- Fails for good. A job that repeats continues with its next slot, unless it must stop.
local function fail_for_good(id, doc, run, error)
  cache.change(id, doc, fields.failures, numbers.int((tonumber(doc.failures) or 0) + 1))
  cache.change(id, doc, fields.input_during_run, nil)
  if doc.next_slot and not (values.get_value(id, doc, fields.repeats) or ''):find('"stopOnFail":true', 1, true) then
    cache.change(id, doc, fields.failed_in_a_row, numbers.int((tonumber(doc.failed_in_a_row) or 0) + 1))
    ending.clear_steps(id, doc)
    cache.change(id, doc, fields.failures, nil)
    cache.change(id, doc, fields.deliveries, nil)
    slots.set_times(id, doc, run)
    results.keep(id, doc, 'f', error)
    queueing.enqueue(id, doc)
    queueing.wake_parent(id, doc, true)
  else
    ending.finish(id, doc, 'f', error)
  end
end

-- delay: until the retry, '' if there is none.
function retry.fail(run, error, delay)
  local id, doc = run.id, cache.need(run.id)
  leases.note_run(id, doc, 'failed',
    { by = run.by, error = error, again = not doc.terminating
    and (delay ~= '' or (doc.followed and (doc.child_during_run == '1' or doc.input_during_run))) })
  counts.ran(doc)
  counts.add(doc.queue, doc.class, 'errors')
  leases.finish(id, doc)
  values.set_value(id, doc, fields.last_error, error)
  cache.change(id, doc, fields.lost_in_a_row, nil)
  cache.change(id, doc, fields.unanswered, nil)
  cache.change(id, doc, fields.conflicts_in_a_row, nil)
  if doc.terminating == TERMINATING.shutdown then
    ending.be_terminated(id, doc, error)
  elseif doc.terminating then
    ending.terminate_now(id, doc)
  elseif delay ~= '' then
    cache.change(id, doc, fields.failures, numbers.int((tonumber(doc.failures) or 0) + 1))
    cache.change(id, doc, fields.deliveries, nil)
    cache.change(id, doc, fields.backoff_until, numbers.int(time.now + tonumber(delay)))
    queueing.enqueue(id, doc, true)
  elseif doc.followed and (doc.child_during_run == '1' or doc.input_during_run) then
    queueing.enqueue(id, doc, true)
  else
    fail_for_good(id, doc, run, error)
  end
  log.line(id, 'error', error, doc)
  if doc.gone then return doc.gone end
  queueing.wake_parent(id, doc)
  return states.of(doc)
end

function retry.conflict(run)
  local id, doc = run.id, cache.need(run.id)
  local n = (tonumber(doc.conflicts_in_a_row) or 0) + 1
  leases.note_run(id, doc, 'conflict', { by = run.by, again = not doc.terminating })
  leases.uncount_run(id, doc)
  leases.finish(id, doc)
  cache.change(id, doc, fields.conflicts_in_a_row, numbers.int(n))
  cache.change(id, doc, fields.deliveries, nil)
  if doc.terminating then
    ending.terminate_now(id, doc)
  else
    local wait = backoff.conflict(n)
    cache.change(id, doc, fields.backoff_until, wait and numbers.int(time.now + wait))
    queueing.enqueue(id, doc, true)
  end
end

function retry.release(run)
  local id, doc = run.id, cache.need(run.id)
  leases.note_run(id, doc, 'released', { error = run.error, again = not doc.terminating })
  leases.uncount(id, doc)
  leases.finish(id, doc)
  if run.unknown and doc.has_shutdown and sides.is_gone(doc) then cache.change(id, doc, fields.has_shutdown, nil) end
  if doc.terminating and not doc.has_shutdown then
    ending.terminate_now(id, doc)
    return doc.gone or states.of(doc)
  end
  if doc.terminating then cache.change(id, doc, fields.terminating, TERMINATING.asked) end
  if run.at then cache.change(id, doc, fields.backoff_until, numbers.int(run.at)) end
  if run.error then values.set_value(id, doc, fields.last_error, run.error) end
  queueing.enqueue(id, doc, true)
  return states.of(doc)
end

local retryable = { TAKEN = true, NOT_FOUND = true, INTERNAL = true }

function retry.refused(run, refusal)
  local error = '{"message":' .. cjson.encode(refusal.message) .. ',"reason":"other","code":"' .. refusal.code .. '"}'
  retry.fail(run, error, retryable[refusal.code] and run.retry or '')
  return 'refused:' .. refusal.code .. ' ' .. refusal.message
end

return retry
