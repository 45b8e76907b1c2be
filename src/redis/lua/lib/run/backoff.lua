-- How long is waited before something is tried again, where Redis alone knows how often it went wrong: in milliseconds, by the
-- n-th time in a row. What a run that failed waits is computed in src/core/retry.ts and comes with its commit.

local backoff = {}

local time = require 'runtime/time'

-- The first wait, twice that, and so on.
function backoff.doubling(first, n, cap) return math.min(cap, first * 2 ^ (n - 1)) end

-- A run that was lost: 1 s, up to 1 h.
function backoff.lost(n) return backoff.doubling(1000, n, 3600000) end

-- A run whose snapshot was overtaken: the first three come again at once, the next after 100 ms, up to 1 min, and up to a
-- fifth later, so that those who overtake each other do not come back together.
local AT_ONCE = 3
function backoff.conflict(n)
  if n <= AT_ONCE then return nil end
  return backoff.doubling(100, n - AT_ONCE, 60000) * (1 + (time.now % 100) / 500)
end

return backoff
