-- Returns the lanes and the named worker processes, with their current runs.
--
-- by: API, dashboard
-- reads: job, jobs, processes, queue, queues

local most = args.take_int()

local names = queues.names()
queues.fetch(names)
local ids, more = at_work.ids(names, most)
cache.fetch_jobs(ids)
return reply.at_work { lanes = at_work.lanes(names), processes = at_work.processes(), runs = at_work.runs(ids),
  more = more, now = time.now }
