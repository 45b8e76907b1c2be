lanes.waits_until = {}

lanes.to_ring = {} -- queue → number of jobs that became ready
function lanes.ring(q, n) journal.put(lanes.to_ring, q, (lanes.to_ring[q] or 0) + n) end

lanes.BELL = 20000
lanes.LANE = 45000
lanes.MINUTE = 60000

local MAX_LANES = 4
lanes.BATCH = 100
-- Maximum packed jobs of a claim. WIDE exceeds BATCH, because writing a piece costs as much as writing one job.
lanes.WIDE = 600

-- Maximum concurrent runs of a lane that call other services. Queues with such runs get more lanes instead.
lanes.CALLS = 4
local CALLING_LANES = 8

function lanes.key(lane) return ns .. 'lane:' .. lane end

function lanes.record_of(seq, word, answers, ids)
  return numbers.int(seq) .. ' ' .. cjson.encode({ word = word, answers = answers, tokens = tokens.of(ids) })
end

function lanes.last_seq(lane)
  local text = cache.text_at(lanes.key(lane))
  return text and tonumber(text:sub(1, (text:find(' ', 1, true) or 1) - 1))
end

function lanes.last_answer(lane)
  local key = lanes.key(lane)
  local text = cache.text_at(key)
  return text and readable.decode(text:match('{.*') or '', key) or { word = 'stale', answers = {}, tokens = {} }
end

function lanes.purge(q)
  local queue_record = cache.queue(q)
  for lane, till in pairs(queue_record.lanes) do
    if till <= time.now then
      journal.put(queue_record.lanes, lane, nil)
      journal.put(cache.queue_dirty, q, true)
      journal.put(cache.writes.expires, lanes.key(lane), lanes.MINUTE)
    end
  end
end

function lanes.count(q)
  lanes.purge(q)
  local n = 0
  for _ in pairs(cache.queue(q).lanes) do n = n + 1 end
  return n
end

function lanes.most(queue_record)
  return queue_record.most_lanes or (queue_record.called_classes and CALLING_LANES or MAX_LANES)
end
function lanes.has_room(q) return lanes.count(q) < lanes.most(cache.queue(q)) end

function lanes.next_room(q)
  local moment = numbers.never
  for _, at_moment in pairs(cache.queue(q).limit_moments or {}) do moment = math.min(moment, at_moment) end
  return moment
end

function lanes.set(q, lane, till)
  journal.put(cache.queue(q).lanes, lane, till)
  journal.put(cache.queue_dirty, q, true)
end

function lanes.moment_of(queue_record)
  local moment = queue_record.reordering and time.now
    or math.min(queue_record.next_lease or numbers.never, queue_record.next_removal or numbers.never)
  for _, till in pairs(queue_record.lanes) do moment = math.min(moment, till) end
  if queue_record.next_timer then
    local rung = queue_record.timer_bell and queue_record.timer_bell > time.now
      and queue_record.timer_bell <= queue_record.next_timer
    moment = math.min(moment, rung and queue_record.next_timer + lanes.BELL
      or math.max(time.now, queue_record.next_timer - lanes.MINUTE))
  end
  return moment
end

function lanes.note_moments()
  for q in pairs(cache.queue_dirty) do
    local queue_record = cache.queues[q]
    local moment = lanes.moment_of(queue_record)
    if moment < (queue_record.wake_at or numbers.never) then
      queue_record.wake_at = moment
      cache.zset(ns .. 'wake', 'q:' .. q, moment)
    end
    if cache.raw[redis_keys.queue(q)] == false then
      cache.sset(ns .. 'queues', q, true)
      cache.raw[redis_keys.queue(q)] = ''
    end
  end
end
