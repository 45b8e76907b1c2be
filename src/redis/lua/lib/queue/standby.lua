-- A lane that has found nothing waits for what comes, and is called instead of ringing a bell.
-- Made when first called.

local standby = {}

local lanes = require 'queue/lanes'
local cache = require 'runtime/cache'
local journal = require 'runtime/journal'
local numbers = require 'runtime/numbers'
local time = require 'runtime/time'
local change_queue, queue, writes = cache.change_queue, cache.queue, cache.writes
local push = journal.push
local int = numbers.int
local now = time.now

-- The lane that waits for work, and that is called instead of ringing a bell.
local function warm_lane(q)
  local lane, till = (queue(q).warm or ''):match('^(%S+) (%d+)$')
  if not lane or tonumber(till) <= now then return nil end
  return lane
end

-- A lane that has found nothing waits for what comes, where work comes that often: nothing was left no longer ago than it
-- would wait. One lane of a queue does.
function standby.stay_warm(q, lane, period)
  local emptied = queue(q).emptied or 0
  change_queue(q, queue_fields.emptied, now)
  if queue(q).paused or now - emptied >= period or warm_lane(q) then return false end
  change_queue(q, queue_fields.warm, lane .. ' ' .. int(now + period))
  lanes.set(q, lane, now + period + lanes.BELL)
  return true
end

-- It does not wait any more, for it is at work or leaves.
function standby.cool_down(q, lane)
  if (queue(q).warm or ''):sub(1, #lane + 1) == lane .. ' ' then change_queue(q, queue_fields.warm, nil) end
end

-- Calls the lane that waits, and counts on it as on a bell that is on its way; answers how many were called.
function standby.call_lane(q)
  local lane = warm_lane(q)
  if not lane then return 0 end
  push(writes.messages, { ns .. 'call:' .. lane, 'ready' })
  standby.cool_down(q, lane)
  lanes.set(q, lane, now + lanes.BELL)
  return 1
end

return standby
