-- Returns the snapshots that the next runs of these jobs would receive.
--
-- by: API
-- reads: job, jobs

local MAX_PAGE = 4194304 -- bytes

local ids, rows, bytes, seen = args.take_list(), {}, 0, 0
cache.fetch_jobs(ids)
for _, id in ipairs(ids) do
  local doc = cache.find(id)
  local row = doc and row_of.waiting_job { id = id, claimed = claimed.rows({ id })[1] }
  bytes = bytes + (row and #cjson.encode(row) or 0)
  if bytes > MAX_PAGE and #rows > 0 then break end
  if row then rows[#rows + 1] = row end
  seen = seen + 1
end
return reply.snapshots { jobs = rows, seen = seen }
