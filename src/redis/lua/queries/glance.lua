-- Returns an overview: the queues with their counters, the limits that jobs wait for, and the worker processes.
--
-- keys: texts that are returned unchanged
-- by: API, dashboard
-- reads: job, jobs, limit, limits, muted, processes, queues, repeats
-- updates: queue

local whole, most_limits, most_runs = args.take(), args.take_int(), args.take_int()

local names = queues.names()
queues.fetch(names, tables.slice(KEYS, 1, #KEYS))

local ids, more = {}, ''
if whole ~= '' then ids, more = at_work.ids(names, most_runs) end

local asked, rows = {}, {}
for i, id in ipairs(ids) do asked[i] = redis_keys.job(id) end
for key, n in pairs((waited.limits(names, most_limits, asked))) do
  local state = limits.at(key)
  local settings = n > 0 and state.settings
  if settings then
    if settings.waiting then state.taken = settings.running end
    rows[#rows + 1] = limit_rows.of(key, n, settings.waited_since)
  end
end
cache.fetch(asked)
cache.fetch_jobs(ids)

local shown, texts, has_failed = {}, {}, false
for i, name in ipairs(names) do
  shown[i] = queues.row(name)
  has_failed = has_failed or tally.known(cache.queue(name), 'failed') > 0
end
for i, key in ipairs(KEYS) do texts[i] = cache.raw[key] or '' end
-- EXISTS counts `muted` twice, so it returns 1 with schedules, 2 with mutes, and 3 with both.
local there = (whole ~= '' or has_failed) and redis.call('EXISTS', ns .. 'repeats', ns .. 'muted', ns .. 'muted') or 0
return reply.glance {
  texts = texts,
  queues = shown,
  limits = rows,
  lanes = at_work.lanes(names),
  processes = whole ~= '' and at_work.processes() or {},
  runs = at_work.runs(ids),
  more_runs = more,
  there = there,
  now = time.now,
}
