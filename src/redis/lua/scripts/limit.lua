-- Sets the concurrency, rate or pause of a limit, closes it for a time, or removes it.
--
-- by: API, callbacks, dashboard
-- updates: days, job, jobs, limit, queue, quota
-- writes: counts, lane, limits, schema, wake
-- act: 'set' ('' keeps a setting, '-' removes it) | 'change' (like 'set', but only for an existing limit) | 'shut'
--   (closes an existing limit until `till`, or opens it) | 'remove'

local key, act = args.take(), args.take()
local concurrency, rate, period = args.take(), args.take(), args.take()
local paused, till = args.take(), args.take()

cache.fetch(KEYS)

if act == 'shut' and not limits.of(key) then return reply.set {} end
if act ~= 'set' and not limits.of(key) then
  return reply.refused { code = 'NOT_FOUND', message = 'there is no limit ' .. key }
end

local settings = {}
local function setting(field, given)
  if given ~= '' then settings[field] = tonumber(given) or false end
end
setting(limit_fields.concurrency, concurrency)
setting(limit_fields.rate, rate)
setting(limit_fields.period, period)
if paused ~= '' then settings.paused = paused == '1' and 1 or false end

if act == 'shut' then
  limits.define(key, { shut = tonumber(till) or false })
elseif act == 'remove' then
  limits.remove(key)
else
  settings.gone = false
  if act == 'set' and (concurrency ~= '' or rate ~= '') and not key:find('^constraint:') then settings.fixed = 1 end
  limits.define(key, settings)
end
bells.ring_all()
work.flush()
return reply.set { rings = bells.rings }
