-- tree: a job and all below it, nearest first. Read only and bounded.
--
-- keys: none
-- by: API, dashboard
-- reads: job, jobs
-- writes: none
-- args: ns, clock, seed, job, most:int
-- returns: {'tree', [id, parent, name, class, status] each, 'more' or ''} | {'refused', code, message}

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

local ok, root = attempt(function()
  local id = resolve(job)
  need(id)
  return id
end)
if not ok then return { 'refused', root.code, root.message } end

local members, more = tree_of(root, most + 1)
local list = {}
for i = 1, math.min(most, #members) do
  local id = members[i]
  local doc = find(id)
  if doc then list[#list + 1] = { id, id == root and '' or doc.parent or '', doc.child_name or '', doc.class, status_of(doc) } end
end
return { 'tree', list, (more or #members > most) and 'more' or '' }
