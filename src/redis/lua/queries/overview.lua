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
local function look_again(q, part)
  if not cache.queue(q).jobs_at then return end
  local was_wrong = false
  for _, place in ipairs(part) do was_wrong = tally.look(q, place) or was_wrong end
  if was_wrong then queues.save(q) end
end
if #names > 0 then look_again(names[1 + math.floor(time.micros / #parts) % #names], parts[1 + time.micros % #parts]) end

local rows = {}
for i, name in ipairs(names) do rows[i] = queues.row(name) end
return reply.queues { queues = rows, now = time.now }
