-- Which of those who wait goes first: the smaller score, then the smaller member of its index.

local order = {}

local cache = require 'runtime/cache'
local time = require 'runtime/time'

-- A score: the priority; on a queue with ageing, where so many milliseconds of waiting are worth one step of it, both in
-- one number. All grow older together, so that stays what it is. It is exact: 2^31 hours are less than 2^53 ms.
function order.rank(q, priority, moment)
  local ageing = cache.queue(q).ageing
  return ageing and priority * ageing + moment or priority
end

-- At limits where groups take turns it is in whole steps.
function order.score(doc)
  local ageing, priority = cache.queue(doc.queue).ageing, tonumber(doc.priority) or 0
  if not ageing then return priority end
  local score = order.rank(doc.queue, priority, time.moment_of_sequence(doc.sequence))
  return doc.waiting_limit and doc.waiting_limit ~= 'group:' .. (doc.group or '') and math.floor(score / ageing) or score
end

return order
