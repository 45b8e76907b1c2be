-- Sets or removes a constraint. Starts to release the jobs that wait because of the old constraint, so that the next
-- claim assigns their limits again. Ticks release the rest.
--
-- by: API
-- reads: listened
-- updates: constraints, hints, job, jobs, limit, limits, queue, quota, schema
-- writes: wake
-- definition: JSON, or '' to remove the constraint

local name, definition = args.take(), args.take()

cache.fetch(KEYS)

local key = ns .. 'constraints'
local text = cache.text_at(key)
local all = text and readable.decode(text, key)
if not all or type(all.list) ~= 'table' or not tonumber(all.version) then
  if text then readable.note(key, text) end
  local _, _, version = hints.known()
  all = { version = tonumber(version) and version or '0', list = {} }
end
if definition == '' and not all.list[name] then
  return reply.refused { code = 'NOT_FOUND', message = 'there is no constraint ' .. name }
end

all.list[name] = definition ~= '' and definition or nil
all.version = numbers.int(tonumber(all.version) + 1)
cache.set_text(key, cjson.encode(all))
hints.set { version = all.version }

opening.go_on('0:' .. name)
bells.ring_all()
work.flush()
return reply.set { rings = bells.rings, constraints = cjson.encode(all) }
