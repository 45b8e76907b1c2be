-- peek: the waiting values of many ports, behind so many of them, without taking them. Read only.
--
-- keys: none
-- by: dispatcher
-- reads: job
-- writes: none
-- args: ns, clock, seed, skip:int, most:int, ...
-- returns: {'ports', [taken, items, default or '', more] each}; an empty row where there is no such port
--          rest: id, dir, port each

-- @include lib/base
-- @include lib/store
-- @include lib/lists
-- @include lib/order
-- @include lib/status
-- @include lib/entries
-- @include lib/leases
-- @include lib/ports
-- @include lib/family
-- @include lib/limits
-- @include lib/turns
-- @include lib/ageing
-- @include lib/create
-- @include lib/waiters
-- @include lib/queues
-- @include lib/claims

local asked, ids = {}, {}
for i = 1, take_int() do
  asked[i] = { id = take(), dir = take(), port = take() }
  ids[i] = asked[i].id
end
fetch_jobs(ids)

local rows = {}
for i, of in ipairs(asked) do
  local doc = find(of.id)
  local pushed, taken, dropped
  if doc then pushed, taken, dropped = counts(doc, of.dir, of.port) end
  if not pushed or dropped then
    rows[i] = {}
  else
    local n = math.min(most, pushed - taken - skip)
    local items = n > 0 and first_values(of.id, doc, of.dir, of.port, n, skip) or {}
    rows[i] = { int(taken), items, get_value(of.id, doc, 'd' .. of.dir .. ':' .. of.port) or '', int(pushed - taken - skip - #items) }
  end
end
return { 'ports', rows }
