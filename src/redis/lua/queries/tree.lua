-- tree: a job and all below it, nearest first. Read only and bounded.
--
-- keys: none
-- by: API, dashboard
-- reads: job, jobs
-- writes: none
-- args: ns, clock, seed, job, most:int
-- returns: {'tree', [id, parent, name, class, status] each, 'more' or ''} | {'refused', code, message}

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
