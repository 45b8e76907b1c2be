-- constraint: sets or removes a matcher with its limit. What waits by the old ones is let go, to be tagged anew.
--
-- keys: the constraints and the hints
-- by: API
-- reads: constraints, hints, job, jobs, limit, limits, queue, quota, schema
-- writes: constraints, hints, job, limit, limits, queue, quota, schema, wake
-- args: ns, clock, seed, name, definition
-- returns: {'set', constraints, rings} | {'refused', code, message}
--          definition: JSON text, '' removes

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
-- @include lib/family/follow
-- @include lib/limit/limits
-- @include lib/limit/turns
-- @include lib/queue/aging
-- @include lib/job/create
-- @include lib/queue/waiters
-- @include lib/queue/lanes

fetch(KEYS)

local key = ns .. 'constraints'
local text = text_at(key)
local all = text and cjson.decode(text) or { version = '0', list = {} }
if definition == '' and not all.list[name] then return { 'refused', 'NOT_FOUND', 'there is no constraint ' .. name } end

all.list[name] = definition ~= '' and definition or nil
all.version = int(tonumber(all.version) + 1)
set_text(key, cjson.encode(all))
local system, till = hints()
set_hints(system, till, all.version)

local prefix = 'constraint:' .. name
for _, one in ipairs(redis.call('SMEMBERS', ns .. 'limits')) do
  if one == prefix or one:sub(1, #prefix + 1) == prefix .. ':' then define_limit(one, { open = 1 }, 'set') end
end
ring_all()
ring_timers()
flush()
return { 'set', cjson.encode(all), rings }
