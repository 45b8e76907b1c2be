-- constraint: sets or removes a matcher with its limit. What waits by the old ones is let go, to be tagged anew.
--
-- keys: the constraints and the hints
-- by: API
-- reads: constraints, hints, job, jobs, limit, limits, queue, schema
-- writes: constraints, hints, job, limit, limits, queue, schema, wake
-- args: ns, clock, seed, name, definition
-- returns: {'set', constraints, rings} | {'refused', code, message}
--          definition: JSON text, '' removes

-- @include lib/base
-- @include lib/store
-- @include lib/lists
-- @include lib/order
-- @include lib/status
-- @include lib/entries
-- @include lib/leases
-- @include lib/ports
-- @include lib/family
-- @include lib/follow
-- @include lib/limits
-- @include lib/turns
-- @include lib/ageing
-- @include lib/create
-- @include lib/waiters
-- @include lib/queues

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
