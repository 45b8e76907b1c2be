-- Returns a job and its descendants, nearest first.
--
-- by: API, dashboard
-- reads: job, jobs

local job, most = args.take(), args.take_int()

local ok, root = journal.attempt(aliases.need, job)
if not ok then return reply.refused { code = root.code, message = root.message } end

local members, more = trees.of(root, most + 1)
local list = {}
for id, doc in cache.each(tables.slice(members, 1, most)) do
  list[#list + 1] = row_of.member { id = id, parent = id == root and '' or doc.parent or '', name = doc.child_name
    or '', class = doc.class, status = states.of(doc) }
end
return reply.tree { members = list, more = (more or #members > most) and 'more' or '' }
