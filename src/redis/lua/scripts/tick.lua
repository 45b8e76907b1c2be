-- Checks every queue that is due: ended lanes, lost runs, due timers, expired jobs.
--
-- by: tick
-- reads: hints, listened, workers
-- updates: audience, channel, days, job, jobs, lane, limit, limits, outbox, queue, quota, schema, unique, wake
-- writes: channels, counts, gone, live, log, repeats, result

local most, skip = args.take_int(), args.take_int()

local wake_key = ns .. 'wake'
-- The index also lists deployments, which come before due entries and do not count as work.
local DEPLOYMENTS = 20
local members = redis.call('ZRANGEBYSCORE', wake_key, '-inf', time.now_text, 'LIMIT', 0, most + skip + DEPLOYMENTS)
local names, keys, opening_rest, more = {}, { ns .. 'schema' }, nil, #members == most + skip + DEPLOYMENTS
local n = -skip
for _, member in ipairs(members) do
  local kind, name = member:match('^(%a):(.*)$')
  if kind ~= 'd' then n = n + 1 end
  if n > most then
    more = true
    break
  elseif n > 0 and kind == 'q' then
    names[#names + 1] = name
    keys[#keys + 1] = redis_keys.queue(name)
  elseif n > 0 and kind ~= 'd' then
    cache.zset(wake_key, member, false)
    if kind == 'k' then limits.touch(name) end
    if kind == 'c' then
      opening_rest, more = name, true
      break
    end
  end
end
if n < 1 then return reply.ticked {} end
cache.makes_room = true
keys[#keys + 1] = ns .. 'outbox'
cache.fetch(keys)
outbox.drop_left()

if opening_rest then opening.go_on(opening_rest) end
for _, q in ipairs(names) do
  cache.change_queue(q, queue_fields.wake_at, nil)
  cache.zset(wake_key, 'q:' .. q, false)
  lanes.purge(q)
  more = due.timers(q) == due.SLICE or more
  more = due.take_back(q) == due.SLICE or more
  more = retention.sweep(q) or more
  resort.go_on(q)
  more = cache.queue(q).reordering or more
  if not lanes.to_ring[q] then lanes.to_ring[q] = 0 end
end
work.flush()
more = limits.has_due or more

for q in pairs(lanes.to_ring) do
  cache.change_queue(q, queue_fields.wake_at, cache.queue(q).wake_at)
  lanes.to_ring[q] = tally.count(q, 'ready')
end
bells.ring_all()
work.flush()
return reply.ticked { rings = bells.rings, more = more and 'more' or '', faults = journal.faults }
