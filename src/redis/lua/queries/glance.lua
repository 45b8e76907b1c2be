-- Returns an overview: the queues with their counters, the limits that jobs wait for, and the worker processes.
--
-- keys: texts that are returned unchanged
-- by: API, dashboard
-- reads: job, jobs, limit, limits, muted, processes, queue, queues, repeats
-- writes: queue
-- args: ns, clock, seed, whole, most_limits:int, most_runs:int
-- returns: glance

local names, keys = queues.names(), tables.slice(KEYS, 1, #KEYS)
for _, name in ipairs(names) do keys[#keys + 1] = redis_keys.queue_key(name) end
cache.fetch(keys)

local ids, more = {}, ''
if whole ~= '' then ids, more = at_work.ids(names, most_runs) end

-- Queues name the limits whose next free slot has a known time. Other limits are read only if these do not account for
-- all waiting jobs.
local waiting, named = 0, {}
for _, name in ipairs(names) do
  waiting = waiting + (cache.queue(name).at_limits or 0)
  for key in pairs(cache.queue(name).limit_moments or {}) do named[#named + 1] = key end
end
local function keys_of(list)
  local limit_keys = {}
  for i, key in ipairs(list) do limit_keys[i] = redis_keys.limit_key(key) end
  return limit_keys
end

local looked_at = waiting > 0 and tables.slice(named, 1, most_limits) or {}
local asked = keys_of(looked_at)
for _, id in ipairs(ids) do asked[#asked + 1] = redis_keys.key_of(id) end
cache.fetch(asked)
cache.fetch_jobs(ids)

local rows, seen = {}, {}
local function add_limits(list)
  for _, key in ipairs(list) do
    local state = limits.at(key)
    local settings = not seen[key] and state.settings
    seen[key] = true
    if settings and not settings.gone then
      local n = settings.waiting or redis.call('ZCARD', redis_keys.limit_key(key, 'waiting'))
      waiting = waiting - n
      if settings.waiting then state.taken = settings.running end
      if n > 0 then rows[#rows + 1] = limit_rows.of(key, n, settings.waited_since) end
    end
  end
end
add_limits(looked_at)
if waiting > 0 then
  local all = redis.call('SSCAN', ns .. 'limits', '0', 'COUNT', most_limits)[2]
  cache.fetch(keys_of(all))
  add_limits(all)
end

local shown, texts = {}, {}
local has_failed = false
for i, name in ipairs(names) do
  shown[i] = queues.row(name)
  has_failed = has_failed or (cache.queue(name).jobs_at[redis_keys.letters.failed] or 0) > 0
end
for i, key in ipairs(KEYS) do texts[i] = cache.raw[key] or '' end
-- EXISTS counts a key each time it is named. So repeats count 1 and mutes count 2.
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
  now = numbers.int(time.now),
}
