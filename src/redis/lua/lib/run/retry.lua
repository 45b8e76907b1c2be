-- After a failure, a job waits until `backoff_until`. New input does not end this wait, but a run with force does.

local MAX_LOST = 10
local function most_lost(doc) return tonumber(doc.max_lost) or MAX_LOST end

local function has_tries(doc)
  if doc.redeliver_after then
    return not doc.max_deliveries or (tonumber(doc.deliveries) or 0) < tonumber(doc.max_deliveries)
  end
  return not doc.begun or (tonumber(doc.lost_in_a_row) or 0) + 1 < most_lost(doc)
end

local function fail_for_good(id, doc, run, error)
  cache.change(id, doc, fields.input_during_run, nil)
  if doc.next_slot and not (values.get_value(id, doc, fields.repeats) or ''):find('"stopOnFail":true', 1, true) then
    cache.count(id, doc, fields.failed_in_a_row)
    ending.clear_steps(id, doc)
    cache.clear(id, doc, { fields.failures, fields.deliveries, fields.lost_in_a_row })
    slots.set_times(id, doc, run)
    -- Lua cannot compute the next slot, so the next claim does it.
    if run.lost and doc.ran_at - doc.next_slot >= 0 then cache.change(id, doc, fields.slot_missed, 'l') end
    results.keep(id, doc, 'f', error)
    queueing.enqueue(id, doc)
    queueing.wake_parent(id, doc, true)
  else
    kinds.set(id, doc, run.kind or '', time.now)
    ending.finish(id, doc, 'f', error)
  end
end

local LOST = '{"message":"run lost: no commit before its lease ended","reason":"other"}'

function retry.lose(id, doc)
  counts.add(doc, 'lost')
  leases.note_run(id, doc, 'lost', { error = LOST, again = not doc.terminating and has_tries(doc) })
  leases.uncount_run(id, doc)
  local since = tonumber(doc.lease_until)
  if doc.redeliver_after then
    cache.count(id, doc, fields.lost_runs)
    cache.change(id, doc, fields.unanswered, '1')
  elseif doc.begun then
    log.keep(id, 'error', LOST, doc)
    cache.count(id, doc, fields.lost_runs)
    cache.count(id, doc, fields.lost_in_a_row)
  else
    cache.change(id, doc, fields.lost_in_a_row, doc.lost_in_a_row or '0')
  end
  leases.finish(id, doc)
  if doc.terminating then return ending.terminate_now(id, doc) end
  if doc.redeliver_after then return queueing.enqueue(id, doc, true, since) end
  local lost = tonumber(doc.lost_in_a_row)
  if lost >= most_lost(doc) then
    local times = lost == 1 and 'once' or lost .. ' times'
    local error = '{"message":"lost ' .. times .. ': the run never answered","reason":"other"}'
    values.set_value(id, doc, fields.last_error, error)
    return fail_for_good(id, doc, { lost = true }, error)
  end
  cache.change(id, doc, fields.backoff_until, lost > 0 and time.now + backoff.lost(lost) or nil)
  queueing.enqueue(id, doc, true)
end

function retry.fail(run, error, delay)
  local id, doc = run.id, cache.need(run.id)
  local goes_on = doc.followed and (doc.child_during_run == '1' or doc.input_during_run)
  leases.note_run(id, doc, 'failed', { by = run.by, version = run.version, error = error,
    again = not doc.terminating and (delay ~= '' or goes_on) })
  counts.ran(doc)
  counts.add(doc, 'errors')
  leases.finish(id, doc)
  values.set_value(id, doc, fields.last_error, error)
  cache.clear(id, doc, { fields.lost_in_a_row, fields.unanswered, fields.conflicts_in_a_row })
  if doc.terminating == TERMINATING.shutdown then
    ending.be_terminated(id, doc, error)
  elseif doc.terminating then
    ending.terminate_now(id, doc)
  elseif delay ~= '' then
    cache.count(id, doc, fields.failures)
    cache.change(id, doc, fields.deliveries, nil)
    cache.change(id, doc, fields.backoff_until, time.now + delay)
    queueing.enqueue(id, doc, true)
  elseif goes_on then
    queueing.enqueue(id, doc, true)
  else
    cache.count(id, doc, fields.failures)
    fail_for_good(id, doc, run, error)
  end
  log.line(id, 'error', error, doc)
  if doc.gone then return doc.gone end
  queueing.wake_parent(id, doc)
  return states.of(doc)
end

function retry.conflict(run)
  local id, doc = run.id, cache.need(run.id)
  leases.note_run(id, doc, 'conflict', { by = run.by, version = run.version, again = not doc.terminating })
  leases.uncount_run(id, doc)
  leases.finish(id, doc)
  cache.count(id, doc, fields.conflicts_in_a_row)
  cache.change(id, doc, fields.deliveries, nil)
  if doc.terminating then return ending.terminate_now(id, doc) end
  local wait = backoff.conflict(tonumber(doc.conflicts_in_a_row))
  cache.change(id, doc, fields.backoff_until, wait and time.now + wait)
  queueing.enqueue(id, doc, true)
end

function retry.release(run)
  local id, doc = run.id, cache.need(run.id)
  leases.note_run(id, doc, 'released', { version = run.version, error = run.error, again = not doc.terminating })
  leases.uncount(id, doc)
  leases.finish(id, doc)
  if run.unknown and doc.has_shutdown and sides.is_gone(doc) then cache.change(id, doc, fields.has_shutdown, nil) end
  if ending.ends_after_release(id, doc) then return doc.gone or states.of(doc) end
  if run.at then
    cache.change(id, doc, fields.backoff_until, run.at)
    values.set_value(id, doc, fields.last_error, run.error)
  end
  queueing.enqueue(id, doc, true)
  return states.of(doc)
end

local retryable = { TAKEN = true, NOT_FOUND = true, INTERNAL = true }

function retry.refused(run, refusal)
  local error = '{"message":' .. cjson.encode(refusal.message) .. ',"reason":"other","code":"' .. refusal.code .. '"}'
  retry.fail(run, error, retryable[refusal.code] and run.retry or '')
  return 'refused:' .. refusal.code .. ' ' .. refusal.message
end
