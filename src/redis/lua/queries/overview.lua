-- Returns all queues, or one queue, with counts and settings.
--
-- by: API, dashboard
-- reads: queues
-- updates: queue

local queue_name = args.take()

local names = queues.asked(queue_name)
queues.fetch(names)

local parts = { { 'ready', 'ready:pull' }, { 'timers', 'leases', 'suspended' },
  { 'completed', 'failed', 'terminated' } }
local q = names[1] and names[1 + math.floor(time.micros / #parts) % #names]
if q and cache.queue(q).jobs_at then
  local was_wrong = false
  for _, place in ipairs(parts[1 + time.micros % #parts]) do was_wrong = tally.look(q, place) or was_wrong end
  if was_wrong then queues.save(q) end
end

local rows = {}
for i, name in ipairs(names) do rows[i] = queues.row(name) end
return reply.queues { queues = rows, now = time.now }
