-- If a queue has few leases, its document stores them instead of the index, because scripts use the document anyway.

leased.MOST = 16

leased.newly_lent = {} -- id → true if it was not leased before this script
local newly_lent = leased.newly_lent

function leased.keep(q, members)
  local queue_record = cache.queue(q)
  local held, n = queue_record.leased or {}, 0
  for _ in pairs(held) do n = n + 1 end
  for member, till in pairs(members) do
    if till and newly_lent[member] and not held[member] then n = n + 1 end
  end
  local has_room = n <= leased.MOST
  if not queue_record.jobs_at then tally.look_at_all(q) end
  for member, till in pairs(members) do
    if held[member] or (till and newly_lent[member] and has_room) then
      tally.add(queue_record, 'leases', (till and 1 or 0) - (held[member] and 1 or 0))
      held[member] = till or nil
      members[member] = nil
      cache.change_queue(q, queue_fields.leased, next(held) and held or nil)
    end
  end
end
