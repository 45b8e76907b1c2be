function rerun.run_at(id, doc, moment)
  if moment > time.now and (tonumber(doc.not_before) or numbers.never) > moment then
    cache.change(id, doc, fields.not_before, moment)
  end
end

function rerun.spare(id, doc)
  cache.change(id, doc, fields.delete_requested, nil)
  if not doc.terminating then return end
  cache.clear(id, doc, { fields.terminating, fields.end_was_told })
  places.tell_parent(id, doc, 'queued')
  hints.publish_status(id, doc, states.of(doc))
end

function rerun.wake_up(id, doc, force)
  rerun.spare(id, doc)
  cache.clear(id, doc, { fields.ended_at, fields.held })
  if doc.place == PLACE.failed then cache.change(id, doc, fields.failures, nil) end
  if force then cache.change(id, doc, fields.backoff_until, nil) end
  queueing.stop_waiting(id, doc)
end

function rerun.retry(id, doc)
  cache.change(id, doc, fields.deliveries, nil)
  queueing.resume(id, doc)
end

local function is_address(version) return version:find('://', 1, true) ~= nil end

function rerun.move(id, doc, version)
  local was = doc.pinned_to
  if not was or was == version or doc.place == PLACE.leased then return nil end
  if is_address(was) ~= is_address(version) then return nil end
  cache.change(id, doc, fields.pinned_to, version)
  if doc.place == PLACE.timers and (doc.last_run or ''):find(',released,', 1, true) then
    cache.change(id, doc, fields.backoff_until, nil)
    queueing.enqueue(id, doc)
  end
  return true
end

function rerun.requeue(id, doc, forgiven)
  local rested = states.has_ended(doc)
  if doc.place == PLACE.leased then
    leases.note_run(id, doc, 'requeued', { again = true })
    leases.uncount_run(id, doc)
    leases.finish(id, doc)
  end
  rerun.wake_up(id, doc, true)
  cache.clear(id, doc, { fields.cancelled, fields.wanted_early, fields.lost_in_a_row, fields.unanswered,
    fields.not_before })
  if forgiven and doc.deliveries then
    cache.change(id, doc, fields.deliveries, math.max(0, doc.deliveries - 1))
  end
  if rested then kin.rejoin(id, doc) end
  queueing.enqueue(id, doc, true, tonumber(doc.created_at))
end
