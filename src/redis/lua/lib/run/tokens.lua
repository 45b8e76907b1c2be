local mark = seed
function tokens.of_lane(lane) mark = lane:sub(1, 6) .. seed:sub(-6) end

-- The token of a job that repeats contains `r`, because a commit by token alone must read such a job first.
tokens.begun = {} -- id → token of the run that this script has begun
local lent = 0

function tokens.next(id, run, repeats)
  lent = lent + 1
  tokens.begun[id] = id .. '.' .. run .. '.' .. repeats .. mark .. lent
  return tokens.begun[id]
end

function tokens.of(ids)
  local list = {}
  for i, id in ipairs(ids) do list[i] = tokens.begun[id] end
  return list
end
