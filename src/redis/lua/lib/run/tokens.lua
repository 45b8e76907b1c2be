-- The tokens of runs.

local tokens = {}

-- A token says whether its job repeats, so that a commit by token alone knows when it must look.
tokens.begun = {} -- id → the token of the run that this script has begun
local lent = 0

function tokens.next(id, run, repeats)
  lent = lent + 1
  tokens.begun[id] = id .. '.' .. run .. '.' .. repeats .. seed .. string.format('%x', lent)
  return tokens.begun[id]
end

-- Those of what this script has lent.
function tokens.of(ids)
  local list = {}
  for i, id in ipairs(ids) do list[i] = tokens.begun[id] end
  return list
end

return tokens
