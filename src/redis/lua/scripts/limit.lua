-- limit: what is set on a limit: so many at once, so many in a period, paused, shut until a moment; or that it is no more.
--
-- keys: the limit, and the schema of the data
-- by: API, callbacks, dashboard
-- reads: days, job, jobs, limit, queue, quota
-- writes: counts, days, job, lane, limit, limits, queue, quota, schema, wake
-- args: ns, clock, seed, key, act, concurrency, rate, period, paused, till
-- returns: {'set', rings} | {'refused', code, message}
--          act: 'set' (an empty setting stays, '-' removes it) | 'change' (the same, if there is such a limit) | 'shut' (until `till`,
--          or no longer; nothing, if there is no such limit) | 'remove'

-- @include lib/runtime/base
-- @include lib/runtime/store
-- @include lib/job/values
-- @include lib/queue/counts
-- @include lib/runtime/lists
-- @include lib/queue/order
-- @include lib/limit/quota
-- @include lib/job/status
-- @include lib/port/log
-- @include lib/run/lease
-- @include lib/port/ports
-- @include lib/family/tree
-- @include lib/family/follow
-- @include lib/limit/limits
-- @include lib/limit/turns
-- @include lib/queue/aging
-- @include lib/job/create
-- @include lib/queue/waiters
-- @include lib/queue/lanes

fetch(KEYS)

if act == 'shut' and not limit(key).settings then return { 'set', {} } end
if act ~= 'set' and not limit(key).settings then return { 'refused', 'NOT_FOUND', 'there is no limit ' .. key } end

local settings = {}
local function setting(field, given)
  if given ~= '' then settings[field] = tonumber(given) or false end
end
setting(limit_fields.concurrency, concurrency)
setting(limit_fields.rate, rate)
setting(limit_fields.period, period)
if paused ~= '' then settings.paused = paused == '1' and 1 or false end

if act == 'shut' then
  define_limit(key, limit_fields { shut = tonumber(till) or false }, 'set')
elseif act == 'remove' then
  define_limit(key, limit_fields { concurrency = false, rate = false, period = false, paused = false, auto = false, gone = 1 }, 'set')
else
  settings.gone = false
  define_limit(key, settings, 'set')
end
ring_all()
ring_timers()
flush()
return { 'set', rings }
