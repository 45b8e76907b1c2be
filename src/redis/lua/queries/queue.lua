-- Returns one queue with its lanes, runs, waiting claims and next jobs.
--
-- by: API, dashboard
-- reads: job, jobs, queue

local queue_name, most = args.take(), args.take_int()

if not cache.text_at(redis_keys.queue(queue_name)) then return reply.none {} end
local queue_record, ids, line = cache.queue(queue_name), {}, {}
for _, place in ipairs({ 'ready', 'ready:pull' }) do
  for i, id in ipairs(entries.ids_of(redis.call('ZRANGE', redis_keys.queue(queue_name, place), 0, most - 1), most)) do
    if i <= most then line[#line + 1] = { id, place == 'ready' and '' or 'pull' } end
    ids[#ids + 1] = id
  end
end
local leases = queue_record.next_lease
  and tables.slice(entries.ids_of(tally.members(queue_name, 'leases', most), most), 1, most) or {}
tables.append(ids, leases)
cache.fetch_jobs(ids)

local next_ones, claims = {}, {}
for _, one in ipairs(line) do
  local doc = cache.find(one[1])
  if doc then
    next_ones[#next_ones + 1] =
      row_of.next { job = one[1], class = doc.class, priority = doc.priority or '0',
      since = time.moment_of_sequence(doc.sequence), group = doc.group or '', pull = one[2] }
  end
end
if (queue_record.pulls_until or 0) > time.now then
  local waiting = redis.call('ZRANGEBYSCORE', redis_keys.queue(queue_name, 'waiters'), '(' .. time.now_text,
    '+inf', 'WITHSCORES', 'LIMIT', 0, most)
  for i = 1, #waiting, 2 do
    local who, patterns = waiters.waiter_of(waiting[i])
    claims[#claims + 1] = row_of.claim { id = who, till = waiting[i + 1], names = table.concat(patterns, '\n') }
  end
end
return reply.queue { document = cjson.encode(queue_record), lanes = at_work.lanes({ queue_name }, true),
  runs = at_work.runs(leases), claims = claims, next = next_ones, now = time.now }
