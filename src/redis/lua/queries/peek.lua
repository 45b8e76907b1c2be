-- Returns waiting values of several ports without taking them. Omits the first `skip` values.
--
-- keys: none
-- by: dispatcher
-- reads: job, jobs
-- writes: none
-- args: ns, clock, seed, skip:int, most:int, ...
-- returns: ports
-- rest: id, dir and port of each

local asked, ids = {}, {}
for i = 1, args.take_int() do
  asked[i] = { id = args.take(), dir = args.take(), port = args.take() }
  ids[i] = asked[i].id
end
cache.fetch_jobs(ids)

local rows = {}
for i, of in ipairs(asked) do
  local doc = cache.find(of.id)
  local pushed, taken, dropped
  if doc then pushed, taken, dropped = ports.counts(doc, of.dir, of.port) end
  if not pushed or dropped then
    rows[i] = {}
  else
    local n = math.min(most, pushed - taken - skip)
    local items = n > 0 and snapshot.first_values(of.id, doc, of.dir, of.port, n, skip) or {}
    rows[i] = row_of.waiting { taken = taken, items = items,
      default = values.get_value(of.id, doc, 'd' .. of.dir .. ':' .. of.port) or '',
      more = pushed - taken - skip - #items }
  end
end
return reply.ports { ports = rows }
