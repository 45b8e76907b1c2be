-- The tokens of runs.

local tokens = {}

-- The nonce of a lane's tokens begins with its name; that of who asks stands in the seed already.
local mark = seed
function tokens.of_lane(lane) mark = lane:sub(1, 6) .. seed:sub(-6) end

-- A token says whether its job repeats, so that a commit by token alone knows when it must look.
tokens.begun = {} -- id → the token of the run that this script has begun
local lent = 0

function tokens.next(id, run, repeats)
  lent = lent + 1
  tokens.begun[id] = id .. '.' .. run .. '.' .. repeats .. mark .. lent
  return tokens.begun[id]
end

-- One that was lent before counts as one of these.
function tokens.keep(id, token) tokens.begun[id] = token end

-- Those of what this script has lent.
function tokens.of(ids)
  local list = {}
  for i, id in ipairs(ids) do list[i] = tokens.begun[id] end
  return list
end

return tokens
