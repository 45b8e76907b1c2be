local mark = seed
function tokens.of_lane(lane) mark = lane:sub(1, 6) .. seed:sub(-6) end

tokens.begun = {} -- id → token of the run that this script has begun
local issued = 0

-- `repeats`: 'r' if the job repeats. A commit by token alone reads the document of this job, to compute its next slot.
function tokens.next(id, run, repeats)
  issued = issued + 1
  tokens.begun[id] = id .. '.' .. run .. '.' .. repeats .. mark .. issued
  return tokens.begun[id]
end

function tokens.of(ids)
  local list = {}
  for i, id in ipairs(ids) do list[i] = tokens.begun[id] end
  return list
end
