-- A warm lane waits for jobs. A call that creates jobs while no other job is ready leases the new jobs to this lane.

local function warm_lane(q)
  local lane, till = (cache.queue(q).warm or ''):match('^(%S+) (%d+)$')
  if not lane or tonumber(till) <= time.now then return nil end
  return lane
end

-- A lane stays warm only if new jobs come often: the queue was last empty less than `period` milliseconds ago.
function standby.stay_warm(q, lane, period)
  local emptied = cache.queue(q).emptied or 0
  cache.change_queue(q, queue_fields.emptied, time.now)
  if cache.queue(q).paused or time.now - emptied >= period or warm_lane(q) then return false end
  cache.change_queue(q, queue_fields.warm, lane .. ' ' .. numbers.int(time.now + period))
  lanes.set(q, lane, time.now + period + lanes.BELL)
  return true
end

local MOST_HANDED, UNHEARD = 16, 2000

local function handed_to(q, lane)
  local to, since, list = (cache.queue(q).handed or ''):match('^(%S+) (%d+)(.*)$')
  local tokens = {}
  if to ~= lane then return tokens, time.now end
  for token in list:gmatch('%S+') do tokens[#tokens + 1] = token end
  return tokens, tonumber(since)
end

local function keep(q, lane, since, tokens)
  cache.change_queue(q, queue_fields.handed,
    tokens[1] and lane .. ' ' .. since .. ' ' .. table.concat(tokens, ' ') or nil)
end

function standby.lane_for(q, n)
  local lane = warm_lane(q)
  if not lane or cache.queue(q).paused then return nil end
  local tokens, since = handed_to(q, lane)
  return #tokens + n <= MOST_HANDED and time.now - since <= UNHEARD and lane or nil
end

function standby.hand(q, lane, tokens)
  local before, since = handed_to(q, lane)
  if not before[1] then lanes.set(q, lane, time.now + lanes.BELL) end
  tables.append(before, tokens)
  keep(q, lane, since, before)
end

-- Milliseconds for which a commit of the lane does not send jobs again that are on their way to the lane.
local ON_ITS_WAY = 1000

function standby.unheard(q, lane, heard, asks)
  local tokens, since = handed_to(q, lane)
  local left = {}
  for _, token in ipairs(tokens) do
    if not tables.has(heard, token) then left[#left + 1] = token end
  end
  local waits = left[1] and not asks and time.now - since < ON_ITS_WAY
  if tokens[1] then keep(q, lane, since, waits and left or {}) end
  return waits and {} or left
end

function standby.cool_down(q, lane)
  if (cache.queue(q).warm or ''):sub(1, #lane + 1) == lane .. ' ' then cache.change_queue(q, queue_fields.warm, nil) end
end

function standby.call_lane(q)
  local lane = warm_lane(q)
  if not lane then return 0 end
  cache.publish('call:' .. lane, 'ready')
  standby.cool_down(q, lane)
  lanes.set(q, lane, time.now + lanes.BELL)
  return 1
end
