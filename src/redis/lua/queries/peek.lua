-- peek: the waiting values of many ports, behind so many of them, without taking them. Read only.
--
-- keys: none
-- by: dispatcher
-- reads: job
-- writes: none
-- args: ns, clock, seed, skip:int, most:int, ...
-- returns: {'ports', [taken, items, default or '', more] each}; an empty row where there is no such port
--          rest: id, dir, port each

-- @include lib/runtime/base
-- @include lib/runtime/store
-- @include lib/job/values
-- @include lib/runtime/lists
-- @include lib/queue/order
-- @include lib/limit/quota
-- @include lib/job/status
-- @include lib/port/log
-- @include lib/run/lease
-- @include lib/port/ports
-- @include lib/family/tree
-- @include lib/limit/limits
-- @include lib/limit/turns
-- @include lib/queue/aging
-- @include lib/job/create
-- @include lib/queue/waiters
-- @include lib/queue/lanes
-- @include lib/run/claim

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
