-- Returns one limit with its runs, its waiting jobs in order, and the time of the next free slot.
--
-- by: API, dashboard
-- reads: job, jobs, limit, limits, queue

local key, most_holders, most_waiting = args.take(), args.take_int(), args.take_int()

local state = limits.at(key)
if not state.settings or state.settings.gone then return reply.none {} end
local moment = limits.next_room(key)
local held = most_holders > 0
  and redis.call('ZRANGEBYSCORE', redis_keys.limit(key, 'held'), '(' .. time.now_text, '+inf', 'WITHSCORES',
  'LIMIT', 0, most_holders) or {}
local members = most_waiting > 0 and redis.call('ZRANGE', redis_keys.limit(key, 'waiting'), 0, most_waiting - 1) or {}
local ids, waiters = {}, {}
for i = 1, #held, 2 do ids[#ids + 1] = held[i] end
for i, member in ipairs(members) do waiters[i] = member:sub(15) end
tables.append(ids, waiters)
cache.fetch_jobs(ids)

local holders, line = {}, {}
for i = 1, #held, 2 do
  local doc = cache.find(held[i])
  if doc then
    holders[#holders + 1] =
      row_of.holder { job = held[i], lease_until = held[i + 1], queue = doc.queue, class = doc.class, group = doc.group
      or '', started_at = doc.ran_at or '', process = doc.process or '' }
  end
end
for id, doc in cache.each(waiters) do
  line[#line + 1] = row_of.in_line { job = id, queue = doc.queue, class = doc.class, group = doc.group or '',
    priority = doc.priority or '0', since = time.moment_of_sequence(doc.sequence) }
end
return reply.room { settings = cjson.encode(state.settings), running = state.taken,
  started = state.started, waiting = limits.count_in_line(key), next_room = moment < numbers.never
  and moment or '', now = time.now, holders = holders, line = line }
