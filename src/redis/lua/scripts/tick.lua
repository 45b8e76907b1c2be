-- tick: look at every queue whose moment has come: dead lanes, lost runs, due timers, what is past its retention.
--
-- keys: the index of moments
-- by: tick
-- reads: audience, channel, days, hints, job, jobs, lane, limit, limits, queue, quota, schema, unique, wake, workers
-- writes: audience, channel, channels, counts, days, gone, job, jobs, lane, limit, limits, live, log, queue, quota, repeats, result, schema, unique, wake
-- args: ns, clock, seed, most:int
-- returns: {'ticked', rings, 'more' or '', what each deployment has announced last}

-- @include lib/runtime/base
-- @include lib/runtime/store
-- @include lib/job/values
-- @include lib/queue/counts
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
-- @include lib/job/retention

local wake_key = ns .. 'wake'
-- Deployments stand in front of what is due, and are no work.
local DEPLOYMENTS = 20
local members = redis.call('ZRANGEBYSCORE', wake_key, '-inf', int(now), 'LIMIT', 0, most + DEPLOYMENTS)
local names, keys, touched_now, announced, is_former, more = {}, { ns .. 'schema' }, {}, {}, false, #members == most + DEPLOYMENTS
for _, member in ipairs(members) do
  local kind, name = member:match('^(%a):(.*)$')
  if kind == 'd' then
    announced[#announced + 1] = name
  elseif #names + #touched_now == most then
    more = true
    break
  elseif kind == 'q' then
    names[#names + 1] = name
    keys[#keys + 1] = queue_key(name)
  elseif kind == 'u' then
    zset(wake_key, member, false)
    is_former = true
  else
    zset(wake_key, member, false)
    touch(name)
    touched_now[#touched_now + 1] = name
  end
end
if #names + #touched_now == 0 and not is_former then return { 'ticked', {}, '', announced } end
fetch(keys)
if is_former and not is_brought_over() and adopted.go_on() then more = true end

for _, q in ipairs(names) do
  change_queue(q, queue_fields.wake_at, nil)
  zset(wake_key, 'q:' .. q, false)
  purge_lanes(q)
  if due_timers(q) == SLICE then more = true end
  if take_back(q) == SLICE then more = true end
  if sweep(q) then more = true end
  side.move_on(q)
  order.go_on(q)
  if queue(q).moving or queue(q).reordering then more = true end
  if not to_ring[q] then to_ring[q] = 0 end
end
flush()
for _, key in ipairs(touched_now) do
  if limit(key).settings and limit(key).settings.reordering then more = true end
end

for q in pairs(to_ring) do
  change_queue(q, queue_fields.wake_at, queue(q).wake_at)
  to_ring[q] = redis.call('ZCARD', queue_key(q, 'ready'))
end
ring_all()
ring_timers()
flush()
return { 'ticked', rings, more and 'more' or '', announced }
