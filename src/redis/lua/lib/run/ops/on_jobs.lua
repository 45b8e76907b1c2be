-- Verbs that make jobs run, end or go.
-- Made when first called.

local on_jobs = {}

local aliases = require 'job/aliases'
local ending = require 'job/ending'
local places = require 'job/places'
local queueing = require 'job/queueing'
local rerun = require 'job/rerun'
local results = require 'job/results'
local states = require 'job/states'
local values = require 'job/values'
local limits = require 'limit/limits'
local sides = require 'queue/sides'
local reach = require 'run/ops/reach'
local args = require 'runtime/args'
local cache = require 'runtime/cache'
local journal = require 'runtime/journal'
local numbers = require 'runtime/numbers'
local tables = require 'runtime/tables'
local time = require 'runtime/time'
local set_value = values.set_value
local take, take_int, take_list = args.take, args.take_int, args.take_list
local change, del, fetch_jobs, find, need = cache.change, cache.del, cache.fetch_jobs, cache.find, cache.need
local refuse = journal.refuse
local int = numbers.int
local now = time.now
local verbs = {}

-- force, at (absolute) and wait (from now) as in SideJob's run(); 'parent' runs the parent instead.
function verbs.run(me)
  local id, doc = reach.take_target(me)
  local force, at_moment, wait, parent, ran = take() == '1', take(), take(), take() == '1', true
  if parent then
    if not doc.parent then refuse('NOT_FOUND', 'job ' .. id .. ' has no parent') end
    id = doc.parent
    doc = need(id)
  end
  if sides.is_gone(doc) then
    if doc.place ~= 'l' and doc.place ~= 'T' then
      change(id, doc, fields.has_shutdown, nil)
      ending.terminate_now(id, doc)
    end
    me.warning = { 'REFUSED', 'class ' .. doc.class .. ' is no longer registered for queue ' .. doc.queue .. ': job ' .. id .. ' is terminated' }
    return
  end
  local moment = at_moment ~= '' and tonumber(at_moment) or (wait ~= '' and now + tonumber(wait)) or 0
  local stopped = doc.terminating or doc.place == 'f' or doc.place == 'T'
  if stopped and not force then
    ran = false
  elseif doc.place == 'l' then
    if doc.terminating == '1' then rerun.spare(id, doc) end
    if moment <= now then change(id, doc, fields.input_during_run, '1') end
    rerun.run_at(id, doc, moment)
  else
    if force then change(id, doc, fields.deliveries, nil) end
    rerun.wake_up(id, doc, force)
    -- The delay that it was made with is used up; what was asked for later stays.
    if moment <= now and not doc.ran_at then change(id, doc, fields.not_before, nil) end
    rerun.run_at(id, doc, moment)
    if doc.place and doc.place ~= 'p' then queueing.enqueue(id, doc, moment <= now) end
  end
  me.answer = { id, states.of(doc), ran and '1' or '' }
end

function verbs.terminate(me)
  local id, doc = reach.take_target(me)
  local rest = ending.terminate(id, doc, take() == '1')
  me.answer = { id, doc.gone or states.of(doc), rest or '' }
end

-- What has not begun is terminated, and known as cancelled; a running one is asked to end.
function verbs.cancel(me)
  local id, doc = reach.take_target(me)
  if doc.place == 'c' or doc.place == 'T' then refuse('WRONG_STATUS', 'job ' .. id .. ' is ' .. states.of(doc) .. ': there is nothing to cancel') end
  change(id, doc, fields.cancelled, '1')
  ending.terminate_one(id, doc)
  me.answer = { id, doc.gone or states.of(doc) }
end

function verbs.retry(me)
  local id, doc = reach.take_target(me)
  if doc.place ~= 'f' then refuse('WRONG_STATUS', 'job ' .. id .. ' is ' .. states.of(doc) .. ': only a failed job can be retried') end
  rerun.retry(id, doc)
  me.answer = { id, states.of(doc) }
end

-- The callback of a job's last end once more, with the same body and id, its tries counted anew.
function verbs.resend(me)
  local id, doc = reach.take_target(me)
  local told = doc.callback_of and id or doc.callback_job
  local callback_doc = told and find(told)
  if not callback_doc then refuse('NOT_FOUND', 'job ' .. id .. ' has no callback_doc that could be sent again') end
  if callback_doc.place == 'l' then refuse('BUSY', 'the callback_doc of job ' .. callback_doc.callback_of .. ' (job ' .. told .. ') is being sent') end
  for _, field in ipairs({ fields.failures, fields.lost_in_a_row, fields.backoff_until, fields.ended_at, fields.terminating, fields.not_before }) do change(told, callback_doc, field, nil) end
  change(told, callback_doc, fields.resent_at, int(now))
  local told_doc = find(callback_doc.callback_of)
  if told_doc and told_doc.callback_job == told then change(callback_doc.callback_of, told_doc, fields.callback_status, nil) end
  if callback_doc.place and callback_doc.place ~= 'p' then queueing.enqueue(told, callback_doc, true) end
  me.answer = { told, states.of(callback_doc) }
end

function verbs.requeue(me)
  local id, doc = reach.take_target(me)
  rerun.requeue(id, doc, take() == '1')
  me.answer = { id, states.of(doc) }
end

-- One slice of a bulk job, which counts what it has done and what it has passed over, and shows it.
function verbs.bulk(me)
  -- Each answers whether there was something to do.
  local acts = {
    retry = function(id, doc) return doc.place == 'f' and (rerun.retry(id, doc) or true) end,
    requeue = function(id, doc) return doc.place ~= nil and doc.place ~= 'p' and (rerun.requeue(id, doc) or true) end,
    terminate = function(id, doc) return doc.place ~= 'T' and not doc.terminating and (ending.terminate_one(id, doc) or true) end,
    delete = function(id, doc) return not doc.delete_requested and ending.delete(id, doc, true) ~= nil end,
  }
  local act, ids, doc = acts[take()], take_list(), need(me.id)
  local done, passed = tonumber(doc['s:done']) or 0, tonumber(doc['s:passed']) or 0
  fetch_jobs(ids)
  for _, id in ipairs(ids) do
    local other = find(id)
    if other and act(id, other) then done = done + 1 else passed = passed + 1 end
  end
  change(me.id, doc, 's:done', int(done))
  change(me.id, doc, 's:passed', int(passed))
  me.result = '{"done":' .. int(done) .. ',"passed":' .. int(passed) .. '}'
  set_value(me.id, doc, fields.progress, me.result)
end

function verbs.delete(me)
  local id, doc = reach.take_target(me)
  local force = take() == '1'
  if force and me.token and me.reach ~= 'all' then
    refuse('FORBIDDEN', 'a run deletes job ' .. id .. ' with force: expected the scope "admin", or a worker that is registered with reach "all"')
  end
  me.answer = { ending.delete(id, doc, force) }
end

-- Until when the run under way has the job.
function verbs.deadline(me)
  local doc, token, till = need(me.id), take(), take_int()
  if doc.token ~= token then refuse('LOST', 'job ' .. me.id .. ' is not in this run') end
  change(me.id, doc, fields.lease_until, int(till))
  places.move(me.id, doc, 'l', till)
  if doc.held_limits then limits.renew_slots(me.id, doc) end
end

function verbs.lock(me)
  local doc, ttl, token = need(me.id), take_int(), take()
  if doc.place == 'l' then refuse('BUSY', 'job ' .. me.id .. ' is running: it cannot be locked before its run has ended') end
  if (tonumber(doc.lock_until) or 0) > now then refuse('BUSY', 'job ' .. me.id .. ' is locked until ' .. doc.lock_until) end
  change(me.id, doc, fields.lock_until, int(now + ttl))
  change(me.id, doc, fields.lock_token, token)
end

local function need_lock(me)
  local doc, token = need(me.id), take()
  if (tonumber(doc.lock_until) or 0) <= now or doc.lock_token ~= token then refuse('CONFLICT', 'job ' .. me.id .. ' is not locked with this token') end
  return doc
end

function verbs.refresh(me)
  local doc = need_lock(me)
  change(me.id, doc, fields.lock_until, int(now + take_int()))
end

function verbs.unlock(me)
  local doc = need_lock(me)
  change(me.id, doc, fields.lock_until, nil)
  change(me.id, doc, fields.lock_token, nil)
  if doc.place == 't' then queueing.enqueue(me.id, doc) end
end

-- The result that is kept, or else the job's status: asked in one step, so that a job cannot end between the two. Whoever
-- waits for so long says it, and is called when the job ends.
function verbs.result(me)
  local id, peek, wait = aliases.resolve(take()), take() == '1', take_int()
  local text = results.of(id)
  local status = text and '' or states.of(need(id))
  if text and not peek then del(ns .. 'result:' .. id) end
  if not text and not states.ends[status] and wait > 0 then
    local doc = need(id)
    change(id, doc, fields.waited_until, int(math.max(tonumber(doc.waited_until) or 0, now + wait)))
  end
  me.nothing = not text
  me.answer = { text or '', status, id }
end

-- Whether this was done under the call's key: nothing is done, and nothing kept.
function verbs.look(me) me.nothing = true end

-- Goes on only if the job is in one of these statuses.
function verbs.expect(me)
  local statuses, is = take_list(), states.of(need(me.id))
  if not tables.has(statuses, is) then refuse('WRONG_STATUS', 'job ' .. me.id .. ' is ' .. is .. ', not ' .. table.concat(statuses, ' or ')) end
end

function on_jobs.named(word) return verbs[word] end

return on_jobs
