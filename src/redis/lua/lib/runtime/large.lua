large.key = ns .. 'jobs:largest'

local SMALL, AT_ONCE = 65536, 2097152
local FEW, MOST = 4, 64

local function noted() return tonumber(cache.text_at(large.key) or 0) or 0 end

function large.note(sets, bytes)
  if bytes <= SMALL or bytes <= noted() then return end
  cache.raw[large.key] = numbers.int(bytes)
  sets[#sets + 1] = large.key
  sets[#sets + 1] = cache.raw[large.key]
end

function large.share(n)
  if n <= FEW or noted() == 0 then return MOST end
  return math.max(1, math.min(MOST, math.floor(AT_ONCE / noted())))
end
