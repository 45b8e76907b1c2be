function finish.take_run(from, version)
  local words, token = ARGV, ARGV[from + 1]
  local dot = token:find('.', 1, true) or 0
  local run = { id = token:sub(1, dot - 1), token = token, n = tonumber(words[from + 2]), ending = words[from + 3],
    late = tonumber(words[from + 4]), size = tonumber(words[from + 5]), from = from + 5, version = version }
  at = run.from + run.size
  if token:sub(1, 1) == 'p' then
    run.piece, run.token, run.mask = token:sub(2, dot - 1), token:sub(dot + 1), words[run.from + 1]
  end
  return run
end

function finish.going_on(runs, answers)
  local ids = {}
  for i, run in ipairs(runs) do
    local doc = run.ending == 'checkpoint' and answers[i] == 'running' and cache.find(run.id)
    if doc and doc.token == run.token then ids[#ids + 1] = run.id end
  end
  return ids[1] and ids
end

local function apply(run)
  kin.memo.roots, write.said.messages, write.said.names = nil, 0, 0
  did.begin(run)
  log.begin()
  local back = at
  at = run.from
  local stop = run.from + run.size
  while at < stop do
    local word = args.take()
    local carry = run_fields.named(word) or ops.named(word)
    carry(run)
  end
  at = back
  log.end_entry(run.id)
end

local function fill_waiting(id, doc, run)
  local key, n, wanted = redis_keys.side(id, 'waiting'), 0, tables.set_of(run.names)
  for _, child in ipairs(kin.children_of(id, doc)) do
    if (run.wait_for == '*' or wanted[child.name]) and not states.ends[child.status] then
      cache.sset(key, child.id, true)
      n = n + 1
    end
  end
  if n == 0 then return false end
  cache.change(id, doc, fields.waits_for, run.wait_for == '*' and '*' or cjson.encode(run.names))
  cache.change(id, doc, fields.waits_for_count, n)
  return true
end

local failures = { fields.failures, fields.lost_in_a_row, fields.conflicts_in_a_row, fields.deliveries,
  fields.unanswered, fields.wait_over }

local function come_to_rest(id, doc, run)
  local own, child = doc.input_during_run, doc.child_during_run and not run.deaf
    and (doc.child_during_run == '1' or run.ending ~= 'follow')
  leases.finish(id, doc)
  if doc.terminating == TERMINATING.shutdown then
    ending.be_terminated(id, doc)
    if own and not doc.gone then
      cache.change(id, doc, fields.input_during_run, nil)
      queueing.enqueue(id, doc, true)
    end
    return
  end
  if doc.terminating then return ending.terminate_now(id, doc) end
  if run.ending ~= 'again' then ending.let_children_go(id, doc) end
  if run.ending == 'follow' then
    follow.begin(id, doc)
  elseif run.ending ~= 'again' then
    cache.change(id, doc, fields.followed, nil)
  end
  local waiting = run.ending == 'suspended' and run.wait_for and fill_waiting(id, doc, run)
  if own or (child and not waiting) then
    queueing.stop_waiting(id, doc)
    return queueing.enqueue(id, doc, true)
  end
  if run.ending == 'follow' then return follow.keep_up(id, doc) end
  if run.ending == 'again' and not run.at then return queueing.enqueue(id, doc, true) end
  if run.ending == 'suspended' and run.wait_for and not waiting then
    cache.change(id, doc, fields.wait_over, '1')
    return queueing.enqueue(id, doc, true)
  end
  if not waiting and (doc.not_before or doc.next_slot or doc.sleep_until) then
    if run.ending == 'completed' then results.keep(id, doc, 'c', run.result or 'null') end
    return queueing.enqueue(id, doc)
  end
  if run.ending == 'completed' then return ending.finish(id, doc, 'c', run.result or 'null') end
  places.move(id, doc, PLACE.suspended, numbers.never)
end

local function succeed(run)
  local id, doc = run.id, cache.need(run.id)
  if run.at or run.slot then slots.set_times(id, doc, run) end
  leases.note_run(id, doc, run.ending, run)
  cache.clear(id, doc, failures)
  values.set_value(id, doc, fields.last_error, nil)
  if run.paused then
    cache.change(id, doc, fields.sleep_until, run.till)
    cache.change(id, doc, fields.awaited_children, run.awaits[1] and cjson.encode(run.awaits) or nil)
  else
    ending.clear_steps(id, doc)
    cache.change(id, doc, fields.failed_in_a_row, nil)
  end
  if run.pinned then cache.change(id, doc, fields.pinned_to, run.pinned) end
  if doc.terminating ~= TERMINATING.shutdown then cache.change(id, doc, fields.started_up, '1') end
  cache.count(id, doc, fields.run_number)
  counts.ran(doc)
  come_to_rest(id, doc, run)
  if doc.gone then return doc.gone end
  queueing.wake_parent(id, doc, run.ending == 'completed' and doc.repeats)
  return states.of(doc)
end

local function checkpoint(run)
  local id, doc = run.id, cache.need(run.id)
  if run.progress then values.set_value(id, doc, fields.progress, run.progress) end
  cache.change(id, doc, fields.started_up, '1')
  cache.change(id, doc, fields.deliveries, nil)
  cache.change(id, doc, fields.next_commit, run.n + 1)
  if run.did then cache.change(id, doc, fields.run_did, cjson.encode(run.did)) end
  leases.extend(id, doc, lanes.LANE)
  return 'running'
end

local function settle(run)
  did.keep_inputs(run)
  for _, e in ipairs(run.counted or {}) do
    counts.add({ queue = cache.need(run.id).queue }, e[1], e[2])
  end
  if run.said then cache.change(run.id, cache.need(run.id), fields.said_ended_at, run.said) end
  if run.ending == 'checkpoint' then return checkpoint(run) end
  if run.ending == 'released' then return retry.release(run) end
  if run.ending == 'skipped' then return slots.pass(run) end
  if run.ending == 'failed' then return retry.fail(run, run.error, run.retry or '') end
  return succeed(run)
end

local function carry_out(run)
  if run.size == 0 and run.ending == 'completed' then return succeed(run) end
  if run.size > 0 then apply(run) end
  return settle(run)
end

local MAX_PUTS = 40000

function finish.commit(run, lane)
  if journal.puts > MAX_PUTS then return 'later' end
  local doc = cache.find(run.id)
  if not doc then return cache.text_at(erase.gone_key(run.token, run.n)) or 'lost' end
  local token, n, answer = erase.last_answer(doc)
  if token == run.token and tonumber(n) == run.n then return answer end
  if doc.token ~= run.token or tonumber(doc.lease_until) <= time.now then return 'lost' end
  if run.n < (tonumber(doc.next_commit) or 0) then return 'lost' end
  if run.ending == 'checkpoint' and doc.terminating == TERMINATING.asked then
    leases.note_run(run.id, doc, 'released', { by = run.by, version = run.version, again = false })
    leases.finish(run.id, doc)
    ending.terminate_now(run.id, doc)
    return 'lost'
  end
  if doc.held_limits then limits.note_start(doc, run.late) end
  local ok, status = journal.isolate(run.id, carry_out, run)
  if not ok and status.code == 'CONFLICT' then
    retry.conflict(run)
    status = 'conflict'
  elseif not ok then
    status = retry.refused(run, status)
  end
  if not doc.gone then
    cache.change(run.id, doc, fields.last_commit, run.token .. '|' .. numbers.int(run.n) .. '|' .. status)
  elseif lane == '' then
    cache.set_expiring(erase.gone_key(run.token, run.n), status, erase.GONE)
  end
  return status
end

-- The caller sends the port changes of all runs of a piece together. If these changes cannot be applied, the answer for
-- each run is `later`, and the caller commits the runs one by one.
function finish.each(run, lane, ended_together)
  local list, answers = pieces.ids(run.piece, run), {}
  cache.fetch_jobs(list)
  for i, id in ipairs(list) do
    local _, at = pieces.place_of(id)
    local known = ended_together:sub(at, at) == '1' and 'completed' or run.size > 1 and 'later'
    answers[i] = known or finish.commit({ id = id, token = id .. '.' .. run.token, n = run.n, ending = run.ending,
      late = run.late, size = 0, version = run.version }, lane)
  end
  return table.concat(answers, ',')
end
