function work.conclude()
  repeat
    local more = false
    if next(queueing.settled) then
      queueing.call_waiting_parents()
      more = true
    end
    if #hints.messages > 0 then
      write.tell_all()
      more = true
    end
    if next(places.moved) then
      follow.keep_all_up()
      more = true
    end
    if next(limits.touched) then waiting.give_room() end
  until not more
end

local written = 0 -- number of changes at the last flush

-- `more_to_come`: a later flush of the same script writes the documents of queues. The conditions avoid loading unused
-- modules, because creating their functions would be most of the work of a short script.
function work.flush(more_to_come)
  if journal.puts == written then return end
  work.conclude()
  if next(cache.loose) then places.settle(expiry.of) end
  if next(cache.writes.lists) then lists.keep_small() end
  values.added = {}
  if next(places.to_call) then waiters.call_all() end
  record.note(more_to_come)
  if not more_to_come then
    if next(cache.queue_dirty) then lanes.note_moments() end
    if next(class_counts.noted) then class_counts.settle() end
    if next(kinds.noted) then kinds.settle() end
    written = journal.puts
  end
  store.write(more_to_come)
end
