-- settings: what people set on a queue: lanes, batch, paused, mode, and which classes fail instead of being lent.
--
-- keys: the queue
-- by: API, dashboard
-- reads: queue
-- writes: lane, live, queue, queues, wake
-- args: ns, clock, seed, queue_name, lanes, batch, paused, mode, ageing, unban, ...
-- returns: {'set', rings}
--          rest: globs of classes to ban

-- @include lib/base
-- @include lib/store
-- @include lib/lists
-- @include lib/order
-- @include lib/status
-- @include lib/entries
-- @include lib/leases
-- @include lib/ports
-- @include lib/family
-- @include lib/follow
-- @include lib/limits
-- @include lib/turns
-- @include lib/ageing
-- @include lib/create
-- @include lib/waiters
-- @include lib/queues

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
