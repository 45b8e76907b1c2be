-- Committing a run: everything it did, or nothing.

-- What a run says of itself beside its ops; each reads its own arguments.
local saying = {
  retry = function(run) run.retry = take() end,
  error = function(run) run.error = take() end,
  at = function(run) run.at = take_int() end,
  wait = function(run) run.at = now + take_int() end,
  slot = function(run) run.slot = take() end,
  -- Its next slot has gone by already, and is made up for.
  catchup = function(run) run.catches_up = true end,
  result = function(run) run.result = take() end,
  progress = function(run) run.progress = take() end,
  count = function(run) push(within(run, 'counts'), { take(), take_int() }) end,
  waitfor = function(run) run.wait_for, run.names = take(), take_list() end,
  lease = function(run) run.lease = take_int() end,
  -- The run is over, its function is not: it goes on at that moment ('' for none), or when one of these children has ended.
  pause = function(run) run.paused, run.till, run.awaits = true, take(), take_list() end,
  -- When it ended by the worker's own clock.
  said = function(run) run.said = take() end,
  -- Which jobs its ops may name: those of its own tree, or all.
  reach = function(run) run.reach = take() end,
  -- Who performed it, where its job keeps its runs.
  by = function(run) run.by = take() end,
  -- Given back because the deployment that was lent it knows no such class.
  unknown = function(run) run.unknown = true end,
  -- News from children that came during the run do not make it run again.
  deaf = function(run) run.deaf = true end,
}

local function take_run()
  local run = { token = take(), n = take_int(), ending = take(), late = take_int(), size = take_int() }
  run.from = at
  at = at + run.size
  run.id = run.token:match('^([1-9]%d*)%.') or '0'
  return run
end

-- The arguments of the run's ops, read where they stand.
local function apply(run)
  local back = at
  at = run.from
  local stop = run.from + run.size
  while at < stop do
    local word = take()
    if saying[word] then saying[word](run) else ops[word](run) end
  end
  at = back
end

local function answered(run, doc, answer)
  change(run.id, doc, fields.last_commit, run.token .. '|' .. int(run.n) .. '|' .. answer)
  return answer
end

-- Children that have not ended, of those the run wants to wait for.
local function fill_waiting(id, doc, run)
  local key, n, wanted = side_key(id, 'waiting'), 0, {}
  for _, name in ipairs(run.names) do wanted[name] = true end
  for _, child in ipairs(children_of(id, doc)) do
    if (run.wait_for == '*' or wanted[child.name]) and not ends[child.status] then
      sset(key, child.id, true)
      n = n + 1
    end
  end
  if n == 0 then return false end
  change(id, doc, fields.waits_for, run.wait_for == '*' and '*' or cjson.encode(run.names))
  change(id, doc, fields.waits_for_count, int(n))
  return true
end

local failures = { fields.failures, fields.lost_in_a_row, fields.conflicts_in_a_row, fields.last_error, fields.deliveries, fields.unanswered, fields.wait_over }
local function clear_failures(id, doc)
  for _, field in ipairs(failures) do
    if doc[field] then set_value(id, doc, field, nil) end
  end
end

-- Where a job goes after a run that did not fail. What arrived meanwhile wins over everything but an end by force.
local function come_to_rest(id, doc, run)
  local own, child = doc.input_during_run, doc.child_during_run and not run.deaf and (doc.child_during_run == '1' or run.ending ~= 'follow')
  end_lease(id, doc)
  if doc.terminating == '2' then
    change(id, doc, fields.terminating, nil)
    finish(id, doc, 'T', '{"message":"terminated","reason":"other"}')
    if own and not doc.gone then
      change(id, doc, fields.input_during_run, nil)
      enqueue(id, doc, true)
    end
    return
  end
  if doc.terminating then return terminate_now(id, doc) end
  if run.ending ~= 'again' then let_children_go(id, doc) end
  if run.ending == 'follow' then flows.follow(id, doc) elseif run.ending ~= 'again' then change(id, doc, fields.followed, nil) end
  local waiting = run.ending == 'suspended' and run.wait_for and fill_waiting(id, doc, run)
  if own or (child and not waiting) then
    stop_waiting(id, doc)
    return enqueue(id, doc, true)
  end
  if run.ending == 'follow' then return flows.keep_up(id, doc) end
  if run.ending == 'again' and not run.at then return enqueue(id, doc, true) end
  if run.ending == 'suspended' and run.wait_for and not waiting then
    change(id, doc, fields.wait_over, '1')
    return enqueue(id, doc, true)
  end
  if not waiting and (doc.not_before or doc.next_slot or doc.sleep_until) then
    if run.ending == 'completed' then result.keep(id, doc, 'c', run.result or 'null') end
    return enqueue(id, doc)
  end
  if run.ending == 'completed' then return finish(id, doc, 'c', run.result or 'null') end
  move(id, doc, 's', never)
end

local function set_pause(id, doc, run)
  change(id, doc, fields.sleep_until, run.till ~= '' and run.till or nil)
  change(id, doc, fields.awaited_children, run.awaits[1] and cjson.encode(run.awaits) or nil)
end

-- Slots that are made up for come one after the other at this distance, so that a long outage is no burst of runs.
local CATCH_UP = 100
local function set_times(id, doc, run)
  if run.at then change(id, doc, fields.not_before, int(run.at)) end
  if not run.slot then return end
  change(id, doc, fields.next_slot, run.slot ~= '' and run.slot or nil)
  change(id, doc, fields.catch_up_at, run.catches_up and int(now + CATCH_UP) or nil)
  change(id, doc, fields.slot_missed, nil)
end

local function succeed(run)
  local id, doc = run.id, need(run.id)
  set_times(id, doc, run)
  note_run(id, doc, run.ending, run)
  clear_failures(id, doc)
  if run.paused then set_pause(id, doc, run) else clear_steps(id, doc) end
  if doc.terminating ~= '2' then change(id, doc, fields.started_up, '1') end
  change(id, doc, fields.run_number, int(tonumber(doc.run_number) + 1))
  count(doc.queue, 'runs')
  come_to_rest(id, doc, run)
  if doc.gone then return doc.gone end
  wake_parent(id, doc, run.ending == 'completed' and doc.repeats)
  return status_of(doc)
end

-- A run that failed consumed nothing and wrote nothing. Retries left: back with backoff, whatever arrived meanwhile;
-- none left: failed, its input kept.
local function fail(run, error, delay)
  local id, doc = run.id, need(run.id)
  note_run(id, doc, 'failed', { by = run.by, error = error, again = not doc.terminating and (delay ~= '' or (doc.followed and (doc.child_during_run == '1' or doc.input_during_run))) })
  count(doc.queue, 'runs')
  count(doc.queue, 'errors')
  end_lease(id, doc)
  set_value(id, doc, fields.last_error, error)
  change(id, doc, fields.lost_in_a_row, nil)
  change(id, doc, fields.unanswered, nil)
  change(id, doc, fields.conflicts_in_a_row, nil)
  if doc.terminating == '2' then
    change(id, doc, fields.terminating, nil)
    finish(id, doc, 'T', error)
  elseif doc.terminating then
    terminate_now(id, doc)
  elseif delay ~= '' then
    change(id, doc, fields.failures, int((tonumber(doc.failures) or 0) + 1))
    change(id, doc, fields.deliveries, nil)
    change(id, doc, fields.backoff_until, int(now + tonumber(delay)))
    enqueue(id, doc, true)
  elseif doc.followed and (doc.child_during_run == '1' or doc.input_during_run) then
    enqueue(id, doc, true)
  else
    change(id, doc, fields.failures, int((tonumber(doc.failures) or 0) + 1))
    change(id, doc, fields.input_during_run, nil)
    if doc.next_slot and not (get_value(id, doc, fields.repeats) or ''):find('"stopOnFail":true', 1, true) then
      clear_steps(id, doc)
      change(id, doc, fields.failures, nil)
      change(id, doc, fields.deliveries, nil)
      set_times(id, doc, run)
      result.keep(id, doc, 'f', error)
      enqueue(id, doc)
      wake_parent(id, doc, true)
    else
      finish(id, doc, 'f', error)
    end
  end
  log(id, 'error', error, true)
  if doc.gone then return doc.gone end
  wake_parent(id, doc)
  return status_of(doc)
end

-- The snapshot was overtaken: the run is dropped and comes again, at once; after three in a row with backoff.
local function conflict(run)
  local id, doc = run.id, need(run.id)
  local n = (tonumber(doc.conflicts_in_a_row) or 0) + 1
  note_run(id, doc, 'conflict', { by = run.by, again = not doc.terminating })
  uncount_run(id, doc)
  end_lease(id, doc)
  change(id, doc, fields.conflicts_in_a_row, int(n))
  change(id, doc, fields.deliveries, nil)
  if doc.terminating then
    terminate_now(id, doc)
  else
    change(id, doc, fields.backoff_until, n > 3 and int(now + math.min(100 * 2 ^ (n - 4), 60000) * (1 + (now % 100) / 500)) or nil)
    enqueue(id, doc, true)
  end
end

local function extend_lease(id, doc, lease)
  local till = now + (tonumber(doc.lease_length) or lease)
  change(id, doc, fields.lease_until, int(till))
  move(id, doc, 'l', till)
  if doc.held_limits then renew_slots(id, doc) end
end

local function checkpoint(run)
  local id, doc = run.id, need(run.id)
  if run.progress then set_value(id, doc, fields.progress, run.progress) end
  change(id, doc, fields.started_up, '1')
  change(id, doc, fields.deliveries, nil)
  change(id, doc, fields.next_commit, int(run.n + 1))
  extend_lease(id, doc, run.lease or LANE)
  return 'running'
end

-- A run that was given back was neither a run nor a delivery.
local function uncount(id, doc)
  uncount_run(id, doc)
  if doc.deliveries then change(id, doc, fields.deliveries, int(tonumber(doc.deliveries) - 1)) end
end

-- A job that this deployment cannot perform goes back, with a delay and without using an attempt.
local function release(run)
  local id, doc = run.id, need(run.id)
  note_run(id, doc, 'released', { error = run.error, again = not doc.terminating })
  uncount(id, doc)
  end_lease(id, doc)
  if run.unknown and doc.has_shutdown and side.is_gone(doc) then change(id, doc, fields.has_shutdown, nil) end
  if doc.terminating and not doc.has_shutdown then
    terminate_now(id, doc)
    return doc.gone or status_of(doc)
  end
  if doc.terminating then change(id, doc, fields.terminating, '1') end
  if run.at then change(id, doc, fields.backoff_until, int(run.at)) end
  if run.error then set_value(id, doc, fields.last_error, run.error) end
  enqueue(id, doc, true)
  return status_of(doc)
end

-- A run that was lent for a slot that is not to be run: as if it had never been lent, but for what came meanwhile.
local function pass_slot(run)
  local id, doc = run.id, need(run.id)
  count(doc.queue, 'skipped')
  uncount(id, doc)
  change(id, doc, fields.ran_at, doc.previous_ran_at)
  end_lease(id, doc)
  if doc.terminating and not doc.has_shutdown then
    terminate_now(id, doc)
    return doc.gone or status_of(doc)
  end
  if doc.terminating then change(id, doc, fields.terminating, '1') end
  set_times(id, doc, run)
  enqueue(id, doc, doc.input_during_run or doc.child_during_run)
  return status_of(doc)
end

local retryable = { TAKEN = true, NOT_FOUND = true, INTERNAL = true }
local function refused(run, refusal)
  local error = '{"message":' .. cjson.encode(refusal.message) .. ',"reason":"other","code":"' .. refusal.code .. '"}'
  fail(run, error, retryable[refusal.code] and run.retry or '')
  return 'refused:' .. refusal.code .. ' ' .. refusal.message
end

local function settle(run)
  for _, e in ipairs(run.counts or {}) do count(need(run.id).q, e[1], e[2]) end
  if run.said then change(run.id, need(run.id), fields.said_ended_at, run.said) end
  if run.ending == 'checkpoint' then return checkpoint(run) end
  if run.ending == 'released' then return release(run) end
  if run.ending == 'skipped' then return pass_slot(run) end
  if run.ending == 'failed' then return fail(run, run.error, run.retry or '') end
  return succeed(run)
end

local function carry_out(run)
  kin.roots, relays.published = nil, 0
  entries.begin()
  apply(run)
  entries.log(run.id)
  return settle(run)
end

-- Whatever the runs of a batch do, one script does so much of it: the others are committed with the next.
local MAX_PUTS = 40000

-- Answers in one word what became of the run: its job's new status, 'lost', 'conflict', 'refused:CODE why', or 'later'.
local function commit(run)
  if work.puts > MAX_PUTS then return 'later' end
  local doc = find(run.id)
  if not doc then return text_at(gone_key(run.token, run.n)) or 'lost' end
  if doc.last_commit then
    local token, n, answer = doc.last_commit:match('^([^|]*)|(%d+)|(.*)$')
    if token == run.token and tonumber(n) == run.n then return answer end
  end
  if doc.token ~= run.token or tonumber(doc.lease_until) <= now then return 'lost' end
  if run.n < (tonumber(doc.next_commit) or 0) then return 'lost' end
  -- A run whose job is to end may finish, and does not go on for long.
  if run.ending == 'checkpoint' and doc.terminating == '1' then
    note_run(run.id, doc, 'released', { by = run.by, again = false })
    end_lease(run.id, doc)
    terminate_now(run.id, doc)
    return 'lost'
  end
  if doc.held_limits then note_start(doc, run.late) end
  local ok, status = work.isolate(run.id, carry_out, run)
  if not ok and status.code == 'CONFLICT' then
    conflict(run)
    status = 'conflict'
  elseif not ok then
    status = refused(run, status)
  end
  if not doc.gone then return answered(run, doc, status) end
  if lane == '' then set_expiring(gone_key(run.token, run.n), status, GONE) end
  return status
end
