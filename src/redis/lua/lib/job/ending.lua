-- The recursion is at most 20 levels deep: `finish` ends only held children, which have no children, and deletes only
-- jobs that are already ending.

local MAX_SHOWN_STEPS = 8192
local of_steps = { fields.sleep_until, fields.awaited_children, fields.pinned_to }

-- Steps stay after a failed run or a failed job, because a retry needs them.
function ending.clear_steps(id, doc)
  cache.clear(id, doc, of_steps)
  if doc.has_steps ~= '1' then return end
  local is_shown = values.of(doc) <= MAX_SHOWN_STEPS
  if not is_shown then cache.drop(redis_keys.side(id, 'steps')) end
  values.lose(id, doc)
  cache.change(id, doc, fields.has_steps, is_shown and 'e' or nil)
end

local function leave_word(id, doc, place, value)
  local is_known = doc.end_was_told or (place == PLACE.terminated and states.ends[states.resting[doc.place]])
  cache.change(id, doc, fields.end_was_told, nil)
  if is_known then return end
  history.note_end(id, doc, place, value)
  results.keep(id, doc, place, value)
  if doc.callback then internal.call_back(id, doc, place, value) end
end

function ending.free(id, doc)
  if not doc.held then return end
  cache.change(id, doc, fields.held, nil)
  if doc.place == PLACE.suspended then queueing.enqueue(id, doc) end
end

function ending.let_children_go(id, doc, cancelled)
  if not doc.holds_children then return end
  cache.change(id, doc, fields.holds_children, nil)
  local held = {}
  for _, child in ipairs(kin.children_of(id, doc)) do
    if child.status == 'suspended' then held[#held + 1] = child.id end
  end
  for child, child_doc in cache.each(held) do
    if child_doc.held then
      if cancelled then
        cache.change(child, child_doc, fields.held, nil)
        cache.change(child, child_doc, fields.cancelled, '1')
        ending.terminate_now(child, child_doc)
      else
        ending.free(child, child_doc)
      end
    end
  end
end

function ending.finish(id, doc, place, value)
  cache.change(id, doc, fields.ended_at, time.now_text)
  cache.change(id, doc, fields.unanswered, nil)
  queueing.stop_waiting(id, doc)
  if place ~= PLACE.failed then ending.clear_steps(id, doc) end
  if place == PLACE.terminated then ending.let_children_go(id, doc, true) end
  unique.free(id, doc)
  leave_word(id, doc, place, value)
  local keep, status = expiry.of(id, doc, place), states.resting[place]
  counts.add(doc, status)
  if keep <= time.now and not doc.parent and not doc.has_children then
    hints.publish_status(id, doc, status)
    places.call_watchers(id, doc, status)
    return erase.job(id, doc, status)
  end
  places.move(id, doc, place, keep)
  queueing.wake_parent(id, doc, true)
  if doc.delete_requested then ending.delete_marked(id, doc) end
end

function ending.fail(id, doc, error)
  values.set_value(id, doc, fields.last_error, error)
  ending.finish(id, doc, 'f', error)
end

function ending.be_terminated(id, doc, error)
  cache.change(id, doc, fields.terminating, nil)
  ending.finish(id, doc, 'T', error or '{"message":"terminated","reason":"other"}')
end

function ending.terminate_now(id, doc)
  if doc.has_shutdown then
    local was = states.of(doc)
    if (doc.callback or doc.keep_result) and states.ends[was] then cache.change(id, doc, fields.end_was_told, '1') end
    cache.change(id, doc, fields.terminating, TERMINATING.asked)
    places.announce(id, doc, was)
    cache.clear(id, doc, { fields.not_before, fields.backoff_until, fields.sleep_until, fields.awaited_children })
    queueing.stop_waiting(id, doc)
    return queueing.enqueue(id, doc, true)
  end
  ending.be_terminated(id, doc)
end

function ending.ends_after_release(id, doc)
  if not doc.terminating then return false end
  if doc.has_shutdown then
    cache.change(id, doc, fields.terminating, TERMINATING.asked)
  else
    ending.terminate_now(id, doc)
  end
  return not doc.has_shutdown
end

function ending.terminate_one(id, doc)
  if doc.place == PLACE.terminated or doc.terminating then return end
  if doc.place == PLACE.leased then
    cache.change(id, doc, fields.terminating, TERMINATING.asked)
    places.announce(id, doc, 'running')
  else
    if doc.has_shutdown and sides.is_gone(doc) then cache.change(id, doc, fields.has_shutdown, nil) end
    ending.terminate_now(id, doc)
  end
end

local budget = { left = 500 }

local function whole(id)
  local tree, more = trees.of(id, math.max(budget.left, 2))
  if more or (#tree > budget.left and #tree > 1) then return nil end
  journal.put(budget, 'left', budget.left - #tree)
  return tree
end

function ending.terminate(id, doc, recursive)
  if not recursive then return ending.terminate_one(id, doc) end
  local tree = whole(id)
  for member, member_doc in cache.each(tree or { id }) do ending.terminate_one(member, member_doc) end
  return not tree and internal.hand_on(id, 'terminate') or nil
end

function ending.check_terminated(id, doc, force)
  if force or doc.place == PLACE.terminated then return end
  states.refuse(id, doc, 'terminate it and all jobs below it first')
end

local function delete_large(id, doc, force)
  if doc.delete_requested == 'f' then return 'ending' end
  ending.check_terminated(id, doc, force)
  if force then ending.terminate_one(id, doc) end
  internal.hand_on(id, force and 'delete' or 'delete terminated')
  cache.change(id, doc, fields.delete_requested, 'f')
  return 'ending'
end

function ending.delete(id, doc, force)
  local tree = whole(id)
  if not tree then return delete_large(id, doc, force) end
  local waiting = false
  for member, member_doc in cache.each(tree) do
    if member_doc.place ~= PLACE.terminated then
      ending.check_terminated(member, member_doc, force)
      ending.terminate_one(member, member_doc)
      if not member_doc.gone and member_doc.place ~= PLACE.terminated then
        cache.change(member, member_doc, fields.delete_requested, '1')
        waiting = true
      end
    end
  end
  if waiting then
    cache.change(id, doc, fields.delete_requested, '1')
    return 'ending'
  end
  erase.tree(tree)
  return 'gone'
end

function ending.forget(id, doc)
  local left = 0
  for _, child in ipairs(kin.children_of(id, doc)) do
    local tree = child.status ~= 'failed' and whole(child.id)
    local keep = not tree
    for _, member_doc in cache.each(tree or {}) do keep = keep or not states.has_ended(member_doc) end
    if keep then
      left = left + 1
    else
      erase.tree(tree)
    end
  end
  if left > 0 or not doc.has_children then return end
  cache.change(id, doc, fields.has_children, nil)
  cache.drop(kin.children_key(id))
end

function ending.delete_marked(id, doc)
  local top, top_doc = id, doc
  for _ = 1, trees.MAX_DEPTH do
    local above_doc = top_doc.parent and cache.find(top_doc.parent)
    if not above_doc or not above_doc.delete_requested then break end
    top, top_doc = top_doc.parent, above_doc
  end
  if top_doc.delete_requested ~= 'f' then ending.delete(top, top_doc, true) end
end
