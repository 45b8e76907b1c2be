-- settings: what people set on a queue: lanes, batch, paused, mode, and which classes fail instead of being lent.
--
-- keys: the queue
-- by: API, dashboard
-- reads: queue, quota
-- writes: lane, live, queue, queues, quota, wake
-- args: ns, clock, seed, queue_name, lanes, batch, paused, mode, ageing, unban, ...
-- returns: {'set', rings}
--          rest: globs of classes to ban

-- @include lib/runtime/base
-- @include lib/runtime/store
-- @include lib/job/values
-- @include lib/runtime/lists
-- @include lib/queue/order
-- @include lib/limit/quota
-- @include lib/job/status
-- @include lib/port/log
-- @include lib/run/lease
-- @include lib/port/ports
-- @include lib/family/tree
-- @include lib/family/follow
-- @include lib/limit/limits
-- @include lib/limit/turns
-- @include lib/queue/aging
-- @include lib/job/create
-- @include lib/queue/waiters
-- @include lib/queue/lanes

if lanes ~= '' then change_queue(queue_name, queue_fields.most_lanes, tonumber(lanes)) end
if batch ~= '' then change_queue(queue_name, queue_fields.batch, tonumber(batch)) end
if paused ~= '' then change_queue(queue_name, queue_fields.paused, paused == '1' or nil) end
if mode ~= '' and mode ~= (queue(queue_name).mode or 'push') then
  change_queue(queue_name, queue_fields.mode, mode == 'pull' and 'pull' or nil)
  side.serve_anew(queue_name)
end
if ageing ~= '' and tonumber(ageing) ~= (queue(queue_name).ageing or 0) then
  change_queue(queue_name, queue_fields.ageing, tonumber(ageing) > 0 and tonumber(ageing) or nil)
  order.begin_anew(queue_name)
end
if unban ~= '' then change_queue(queue_name, queue_fields.banned, nil) end
local bans, known = {}, {}
for _, ban in ipairs(queue(queue_name).banned or {}) do
  bans[#bans + 1] = ban
  known[ban] = true
end
for _ = 1, take_int() do
  local glob = take()
  if not known[glob] then bans[#bans + 1] = glob end
end
if #bans > 0 then change_queue(queue_name, queue_fields.banned, bans) end
change_queue(queue_name, queue_fields.wake_at, queue(queue_name).wake_at)
to_call[queue_name] = {}
for i = 1, 100 do to_call[queue_name][i] = '' end
to_ring[queue_name] = (to_ring[queue_name] or 0) + redis.call('ZCARD', queue_key(queue_name, 'ready'))
ring_all()
ring_timers()
flush()
return { 'set', rings }
