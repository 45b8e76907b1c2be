-- Changes the settings of a queue, and the banned classes, whose jobs fail instead of running.
--
-- by: API, dashboard
-- updates: queue, quota
-- writes: lane, live, queues, wake
-- most_lanes, batch, ageing: 0 restores the default
-- rest: globs of classes to ban

local queue_name, most_lanes, batch = args.take(), args.take(), args.take()
local paused, mode, ageing, unban = args.take(), args.take(), args.take(), args.take()

local queue_record = cache.queue(queue_name)
local was_lanes, was_batch, was_ageing = queue_record.most_lanes or 0, queue_record.batch or 0, queue_record.ageing or 0
local was_paused, was_mode = queue_record.paused and '1' or '', queue_record.mode or 'push'

local function set_number(field, text)
  if text ~= '' then cache.change_queue(queue_name, field, tonumber(text) > 0 and tonumber(text) or nil) end
end

set_number(queue_fields.most_lanes, most_lanes)
set_number(queue_fields.batch, batch)
if paused ~= '' then cache.change_queue(queue_name, queue_fields.paused, paused == '1' or nil) end
local has_mode = mode ~= '' and mode ~= was_mode
local has_ageing = ageing ~= '' and tonumber(ageing) ~= was_ageing
if has_mode then cache.change_queue(queue_name, queue_fields.mode, mode == 'pull' and 'pull' or nil) end
if has_ageing then set_number(queue_fields.ageing, ageing) end
if has_mode or has_ageing then anew.sort(queue_name) end
local bans = unban == '' and queue_record.banned or {}
for _, glob in ipairs(args.take_list()) do
  if not tables.has(bans, glob) then bans[#bans + 1] = glob end
end
cache.change_queue(queue_name, queue_fields.banned, bans[1] and bans or nil)
places.to_call[queue_name] = {}
for i = 1, 100 do places.to_call[queue_name][i] = '' end
lanes.ring(queue_name, tally.count(queue_name, 'ready'))
bells.ring_all()
work.flush()
return reply.settled { rings = bells.rings, lanes = was_lanes, batch = was_batch, paused = was_paused, mode = was_mode,
  ageing = was_ageing }
