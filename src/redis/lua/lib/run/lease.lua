-- How a lease ends: committed, released, or lost.

local lease_fields = { fields.token, fields.lease_until, fields.lease_length, fields.begun, fields.next_commit, fields.previous_ran_at, fields.process }
local function end_lease(id, doc)
  if doc.held_limits then release_slots(id, doc) end
  for _, field in ipairs(lease_fields) do
    if doc[field] then change(id, doc, field, nil) end
  end
end

-- A run that had no effect does not count for the runaway guard.
local function uncount_run(id, doc)
  local minute, n = (doc.runs_this_minute or ''):match('^(%d+):(%d+)$')
  if minute then change(id, doc, fields.runs_this_minute, minute .. ':' .. int(math.max(0, tonumber(n) - 1))) end
end

-- How a run ended. The last one stands in the document; a job that keeps more has them in a list, each with what else is
-- known of it: { by: who performed it; again: whether it is tried again for this; error }.
local MAX_KEPT_ERROR = 8192
local function note_run(id, doc, outcome, more)
  local line = (doc.ran_at or '0') .. ',' .. now_text .. ',' .. outcome .. ',' .. int((tonumber(doc.failures) or 0) + 1)
  change(id, doc, fields.last_run, line)
  if not doc.history then return end
  local n, error = tonumber(doc.history_kept) or 0, more and more.error or ''
  if #error > MAX_KEPT_ERROR then
    error = '{"message":"its error is ' .. #error .. ' bytes long: only that of the last run is kept, with the job","reason":"other"}'
  end
  local by = more and more.by or doc.process or (doc.lease_length and side.of(doc.queue, doc.class, doc.tag) and 'pull') or ''
  local kept = lists.at(side_key(id, 'runs'), n)
  lists.push(kept, { line .. ',' .. doc.token .. ',' .. (more and more.again and '1' or '') .. ',' .. by .. '\n' .. error })
  if n == tonumber(doc.history) then lists.pop(kept, 1) else change(id, doc, fields.history_kept, int(n + 1)) end
end

local MAX_LOST = 10
local function backoff(n) return math.min(1000 * 2 ^ (n - 1), 3600000) end

-- A job that says itself when it goes to somebody else is due again then, at once and in company; claims count how often.
local function redeliver(id, doc, since)
  change(id, doc, fields.lost_runs, int((tonumber(doc.lost_runs) or 0) + 1))
  change(id, doc, fields.unanswered, '1')
  end_lease(id, doc)
  if doc.terminating then return terminate_now(id, doc) end
  enqueue(id, doc, true, since)
end

-- Whether a job whose run was lost is tried again: by its own terms, or by ours.
local function has_tries(doc)
  if doc.redeliver_after then return not doc.max_deliveries or (tonumber(doc.deliveries) or 0) < tonumber(doc.max_deliveries) end
  return not doc.begun or (tonumber(doc.lost_in_a_row) or 0) + 1 < MAX_LOST
end

-- A lease ended and nobody committed: no effect of that run exists. Back into the queue, alone and with backoff.
local function lose(id, doc)
  count(doc.queue, 'lost')
  note_run(id, doc, 'lost', { again = not doc.terminating and has_tries(doc) })
  uncount_run(id, doc)
  if doc.redeliver_after then return redeliver(id, doc, tonumber(doc.lease_until)) end
  if doc.begun then
    change(id, doc, fields.lost_runs, int((tonumber(doc.lost_runs) or 0) + 1))
    change(id, doc, fields.lost_in_a_row, int((tonumber(doc.lost_in_a_row) or 0) + 1))
  else
    change(id, doc, fields.lost_in_a_row, doc.lost_in_a_row or '0')
  end
  end_lease(id, doc)
  if doc.terminating then return terminate_now(id, doc) end
  local lost = tonumber(doc.lost_in_a_row)
  if lost >= MAX_LOST then
    local error = cjson.encode({ message = 'lost ' .. int(lost) .. ' times: the run never answered', reason = 'other' })
    set_value(id, doc, fields.last_error, error)
    return finish(id, doc, 'f', error)
  end
  change(id, doc, fields.backoff_until, lost > 0 and int(now + backoff(lost)) or nil)
  enqueue(id, doc, true)
end
