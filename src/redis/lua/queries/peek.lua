-- Returns waiting values of several ports without taking them. Omits the first `skip` values.
--
-- by: dispatcher
-- reads: job, jobs

local skip, most = args.take_int(), args.take_int()

local asked, ids = {}, {}
for i = 1, args.take_int() do
  asked[i] = { id = args.take(), dir = args.take(), name = args.take() }
  ids[i] = asked[i].id
end
cache.fetch_jobs(ids)

local rows = {}
for i, of in ipairs(asked) do
  local port = port_refs.at(of.id, cache.find(of.id) or {}, of.dir, of.name)
  local pushed, taken, dropped = ports.counts(port)
  if not pushed or dropped then
    rows[i] = {}
  else
    local n = math.min(most, pushed - taken - skip)
    local items = n > 0 and snapshot.first_values(port, n, skip) or {}
    rows[i] = row_of.waiting { taken = taken, items = items, more = pushed - taken - skip - #items }
  end
end
return reply.ports { ports = rows }
