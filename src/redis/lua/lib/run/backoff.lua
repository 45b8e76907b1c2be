-- Delays in milliseconds, by number of consecutive failures. src/core/retry.ts computes the delay of a failed run.

function backoff.doubling(first, n, cap) return math.min(cap, first * 2 ^ (n - 1)) end

function backoff.lost(n) return backoff.doubling(1000, n, 3600000) end

-- Delays vary by a fifth, so that conflicting runs do not return at the same time.
local AT_ONCE = 3
function backoff.conflict(n)
  if n <= AT_ONCE then return nil end
  return backoff.doubling(100, n - AT_ONCE, 60000) * (1 + (time.now % 100) / 500)
end
