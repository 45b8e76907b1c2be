-- Which of those who wait goes first: the smaller score, then the smaller member of its index.

local order = {}

-- A score: the priority; on a queue with ageing, where so many milliseconds of waiting are worth one step of it, both in
-- one number. All grow older together, so that stays what it is. It is exact: 2^31 hours are less than 2^53 ms.
function order.rank(q, priority, moment)
  local ageing = queue(q).ageing
  return ageing and priority * ageing + moment or priority
end

-- At limits where groups take turns it is in whole steps.
function order.score(doc)
  local ageing, priority = queue(doc.queue).ageing, tonumber(doc.priority) or 0
  if not ageing then return priority end
  local score = order.rank(doc.queue, priority, moment_of_sequence(doc.sequence))
  return doc.waiting_limit and doc.waiting_limit ~= 'group:' .. (doc.group or '') and math.floor(score / ageing) or score
end

-- The turn that a job has at a limit: its number, of which tier, and of which group. It keeps those of all limits that it
-- has waited at since it became ready, a line each.
function order.turn_at(doc, key)
  for line in (doc.turns or ''):gmatch('[^\n]+') do
    local turn, tier, size, names = line:match('^(%x+),(%-?%d+),(%d+),(.*)$')
    if names:sub(size + 1) == key then return turn, tier, names:sub(1, tonumber(size)) end
  end
end

function order.keep_turn(id, doc, key, turn, tier, group)
  local lines = { turn .. ',' .. tier .. ',' .. #group .. ',' .. group .. key }
  for line in (doc.turns or ''):gmatch('[^\n]+') do
    local size, names = line:match('^%x+,%-?%d+,(%d+),(.*)$')
    if names:sub(size + 1) ~= key then lines[#lines + 1] = line end
  end
  change(id, doc, fields.turns, table.concat(lines, '\n'))
end

-- Set by turns.
-- order.take_turn(id, doc, key): of a job that begins to wait at a limit
-- order.leave_turn(doc, is_let_through): of one that waits there no more
