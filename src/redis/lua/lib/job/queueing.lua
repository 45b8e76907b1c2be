function queueing.own_moment(doc)
  local slot = tonumber(doc.next_slot) or numbers.never
  -- Runs for missed slots are delayed, but not for pull workers, which set their own pace.
  if doc.catch_up_at and not sides.of(doc) then slot = math.max(slot, tonumber(doc.catch_up_at)) end
  local moment = math.min(tonumber(doc.not_before) or numbers.never, slot, tonumber(doc.sleep_until) or numbers.never)
  return moment == numbers.never and 0 or moment
end

-- Backoff and lock always apply. `at` and the next slot apply only if no earlier run was requested.
function queueing.enqueue(id, doc, early, since)
  early = early or doc.wanted_early
  local moment = not early and not doc.terminating and queueing.own_moment(doc) or 0
  moment = math.max(moment, tonumber(doc.backoff_until) or 0, tonumber(doc.lock_until) or 0)
  if moment > time.now then
    if early then cache.change(id, doc, fields.wanted_early, '1') end
    return places.move(id, doc, PLACE.timers, moment)
  end
  local full = sides.is_limited(doc) and limits.first_full(doc)
  if full then return waiting.set_aside(id, doc, full) end
  local place = sides.of(doc)
  places.move(id, doc, place, nil, nil, nil, place and (moment > 0 and moment or since))
end

local stopped_by = { fields.failures, fields.lost_in_a_row, fields.backoff_until, fields.ended_at }

function queueing.resume(id, doc)
  cache.clear(id, doc, stopped_by)
  if not states.is_ready(doc) then queueing.enqueue(id, doc, true) end
end

function queueing.stop_waiting(id, doc)
  if not doc.waits_for then return end
  cache.change(id, doc, fields.wait_over, '1')
  cache.clear(id, doc, { fields.waits_for, fields.waits_for_count })
  cache.drop(redis_keys.side(id, 'waiting'))
end

-- `why`: 'own' for input or a request, 'child' after a child has run.
function queueing.wake(id, doc, why)
  if doc.terminating or doc.held or doc.place == PLACE.failed or doc.place == PLACE.terminated then return false end
  if doc.place == PLACE.leased then
    cache.change(id, doc, why == 'child' and fields.child_during_run or fields.input_during_run, '1')
  elseif doc.place == PLACE.timers then
    queueing.enqueue(id, doc, true)
  elseif doc.slot_missed then
    cache.change(id, doc, fields.slot_missed, nil)
  elseif states.is_idle(doc) then
    if why == 'child' and doc.waits_for then return false end
    queueing.stop_waiting(id, doc)
    queueing.enqueue(id, doc, true)
  end
  return true
end

queueing.settled = {} -- parent → children that have ended

function queueing.wake_parent(id, doc, has_ended)
  if not doc.parent then return end
  local parent_doc = cache.find(doc.parent)
  if not parent_doc then return end
  if parent_doc.followed then
    if parent_doc.place == PLACE.leased and not parent_doc.child_during_run then
      cache.change(doc.parent, parent_doc, fields.child_during_run, '2')
    end
    return
  end
  if has_ended then journal.push(journal.within(queueing.settled, doc.parent), id) end
  if parent_doc.awaited_children and not has_ended then return end
  queueing.wake(doc.parent, parent_doc, 'child')
end

local function waited_for(key, children)
  local among, new = {}, cache.writes.sets[key] or {}
  for from = 1, #children, 2400 do
    local piece = tables.slice(children, from, from + 2399)
    local known = cache.writes.dels[key] and {} or redis.call('SMISMEMBER', key, unpack(piece, 1, #piece))
    for i, child in ipairs(piece) do among[from + i - 1] = new[child] or known[i] == 1 end
  end
  return among
end

function queueing.call_waiting_parents()
  for parent, children in pairs(queueing.settled) do
    local doc = cache.find(parent)
    if doc and doc.waits_for then
      local key, left = redis_keys.side(parent, 'waiting'), tonumber(doc.waits_for_count)
      local among = waited_for(key, children)
      for i, child in ipairs(children) do
        if among[i] and not (cache.writes.sets[key] and cache.writes.sets[key][child] == false) then
          cache.sset(key, child, false)
          left = left - 1
        end
      end
      cache.change(parent, doc, fields.waits_for_count, left)
      if left <= 0 then
        queueing.stop_waiting(parent, doc)
        if doc.place == PLACE.suspended then queueing.enqueue(parent, doc, true) end
      end
    end
  end
  queueing.settled = {}
end
