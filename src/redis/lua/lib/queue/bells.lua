local rung = 0
bells.rings = {}

local function new_bell()
  rung = rung + 1
  return 'bell' .. seed .. rung
end

local function bells_of(queue_record)
  local n = 0
  for lane in pairs(queue_record.lanes) do if lane:sub(1, 4) == 'bell' then n = n + 1 end end
  return n
end

local function ring(q, ready)
  local queue_record = cache.queue(q)
  if queue_record.paused then return end
  local called = ready > 0 and standby.call_lane(q) or 0
  local batch, there, most = queue_record.batch or lanes.BATCH, lanes.count(q), lanes.most(queue_record)
  local missing = queue_record.called_classes
    and math.min(most - there, math.ceil(ready / math.min(batch, lanes.CALLS)) - bells_of(queue_record) - called)
    or math.min(most, math.ceil(ready / batch)) - there
  for _ = 1, missing do
    local bell = new_bell()
    lanes.set(q, bell, time.now + lanes.BELL)
    bells.rings[#bells.rings + 1] = row_of.ring { queue = q, bell = bell }
  end
end

function bells.ring_ready()
  work.conclude()
  for q, ready in pairs(lanes.to_ring) do ring(q, ready) end
  lanes.to_ring = {}
end

local function next_call(q, queue_record)
  local room = lanes.next_room(q)
  if lanes.count(q) > 0 or room <= (lanes.waits_until[q] or 0) then room = numbers.never end
  return math.min(queue_record.next_timer or numbers.never, room)
end

function bells.ring_timers()
  for q, queue_record in pairs(cache.queues) do
    local moment = queue_record.paused and numbers.never or next_call(q, queue_record)
    if moment > time.now and moment <= time.now + lanes.MINUTE
      and not (queue_record.timer_bell and queue_record.timer_bell > time.now
      and queue_record.timer_bell <= moment) then
      cache.change_queue(q, queue_fields.timer_bell, moment)
      bells.rings[#bells.rings + 1] = row_of.ring { queue = q, bell = new_bell(), at = moment }
    end
  end
end

function bells.ring_all()
  bells.ring_ready()
  bells.ring_timers()
end
