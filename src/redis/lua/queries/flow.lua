-- flow: a flow as it is: its job, its children, and what stands at their ports. Read only.
--
-- keys: none
-- by: API, dashboard
-- reads: audience, channel, job, jobs
-- writes: none
-- args: ns, clock, seed, job
-- returns: {'flow', id, document, side values, children, [child, side, port, size, default, wires, oldest, passed] each, now}
--          | {'refused', code, message}

-- @include lib/runtime/base
-- @include lib/runtime/store
-- @include lib/job/values
-- @include lib/runtime/lists
-- @include lib/queue/order
-- @include lib/limit/quota
-- @include lib/job/status
-- @include lib/port/ports
-- @include lib/family/tree
-- @include lib/limit/limits
-- @include lib/limit/turns
-- @include lib/queue/aging
-- @include lib/job/create
-- @include lib/queue/waiters
-- @include lib/queue/lanes
-- @include lib/run/claim

local ok, id = attempt(function()
  local id = resolve(job)
  need(id)
  return id
end)
if not ok then return { 'refused', id.code, id.message } end

local doc = find(id)
local children = flat_children(id, doc)
return { 'flow', id, text_at(key_of(id)), flat_side_values(id, doc), children, flat_wires(id, doc, children, true), int(now) }
