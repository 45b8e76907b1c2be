large.key = ns .. 'jobs:largest'

local SMALL, AT_ONCE = 65536, 2097152
local FEW, MOST = 4, 64

local function noted() return tonumber(cache.text_at(large.key) or 0) or 0 end

function large.note(bytes)
  if bytes > SMALL and bytes > noted() then cache.writes.strings[large.key] = numbers.int(bytes) end
end

function large.share(n)
  if n <= FEW or noted() == 0 then return MOST end
  return math.max(1, math.min(MOST, math.floor(AT_ONCE / noted())))
end
