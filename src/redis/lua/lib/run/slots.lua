-- Milliseconds between runs for missed slots, so that no burst follows a long outage.
local CATCH_UP = 100

function slots.set_times(id, doc, run)
  if run.at then cache.change(id, doc, fields.not_before, run.at) end
  local is_moved = run.slot_from and tonumber(run.slot_from) ~= tonumber(doc.next_slot)
  if not run.slot or is_moved or doc.terminating == TERMINATING.shutdown then return end
  cache.change(id, doc, fields.next_slot, run.slot ~= '' and run.slot or nil)
  cache.change(id, doc, fields.catch_up_at, run.catches_up and time.now + CATCH_UP or nil)
  cache.change(id, doc, fields.slot_missed, nil)
  if run.passed then cache.change(id, doc, fields.passed_slots, run.passed) end
end

function slots.pass(run)
  local id, doc = run.id, cache.need(run.id)
  counts.add(doc, 'skipped')
  leases.uncount(id, doc)
  cache.change(id, doc, fields.ran_at, doc.previous_ran_at)
  leases.finish(id, doc)
  if ending.ends_after_release(id, doc) then return doc.gone or states.of(doc) end
  slots.set_times(id, doc, run)
  queueing.enqueue(id, doc, doc.input_during_run or doc.child_during_run)
  return states.of(doc)
end
