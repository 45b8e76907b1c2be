-- flow: a flow as it is: its job, its children, and what stands at their ports. Read only.
--
-- keys: none
-- by: API, dashboard
-- reads: audience, channel, job, jobs
-- writes: none
-- args: ns, clock, seed, job
-- returns: {'flow', id, document, side values, children, [child, side, port, size, default, wires, oldest, passed] each, now}
--          | {'refused', code, message}

-- @include lib/base
-- @include lib/store
-- @include lib/lists
-- @include lib/order
-- @include lib/status
-- @include lib/ports
-- @include lib/family
-- @include lib/limits
-- @include lib/turns
-- @include lib/ageing
-- @include lib/create
-- @include lib/waiters
-- @include lib/queues
-- @include lib/claims

local ok, id = attempt(function()
  local id = resolve(job)
  need(id)
  return id
end)
if not ok then return { 'refused', id.code, id.message } end

local doc = find(id)
local children = flat_children(id, doc)
return { 'flow', id, text_at(key_of(id)), flat_side_values(id, doc), children, flat_wires(id, doc, children, true), int(now) }
