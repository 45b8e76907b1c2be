-- All jobs of a queue age equally, so their order does not change. Priorities are below 2^31 and the ageing is at most
-- an hour, so the rank is below 2^53 ms and stays an exact integer.
function order.rank(q, priority, moment)
  local ageing = cache.queue(q).ageing
  return ageing and priority * ageing + moment or priority
end

function order.score(doc)
  local ageing, priority = cache.queue(doc.queue).ageing, tonumber(doc.priority) or 0
  if not ageing then return priority end
  local score = order.rank(doc.queue, priority, time.moment_of_sequence(doc.sequence))
  return doc.waiting_limit and doc.waiting_limit ~= 'group:' .. (doc.group or '') and math.floor(score / ageing)
    or score
end
