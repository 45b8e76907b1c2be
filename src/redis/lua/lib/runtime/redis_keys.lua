local job_keys = {}

function redis_keys.job(id)
  local key = job_keys[id]
  if not key then
    key = ns .. 'job:' .. id
    job_keys[id] = key
  end
  return key
end

function redis_keys.piece(number) return ns .. 'jobs:' .. number end
function redis_keys.side(id, name) return ns .. 'job:' .. id .. ':' .. name end
local queue_keys = {} -- place → queue → key
redis_keys.counted = {} -- key of an index that the queue counts → queue and place
redis_keys.letters = { ['ready'] = 'r', ['ready:pull'] = 'p', ['timers'] = 't', ['leases'] = 'l', ['suspended'] = 's',
  ['completed'] = 'c', ['failed'] = 'f', ['terminated'] = 'T' }

function redis_keys.queue(q, place)
  local known = queue_keys[place or '']
  if not known then
    known = {}
    queue_keys[place or ''] = known
  end
  if not known[q] then
    known[q] = ns .. 'queue:' .. q .. (place and ':' .. place or '')
    if redis_keys.letters[place] then redis_keys.counted[known[q]] = { q, place } end
  end
  return known[q]
end

-- The part comes before the key of the limit, because this key may be any string and could end like a part.
function redis_keys.limit(key, part) return ns .. (part and 'limit-' .. part .. ':' or 'limit:') .. key end
redis_keys.direction = { i = 'in', o = 'out' }
function redis_keys.list(port)
  return redis_keys.side(port.id, redis_keys.direction[port.dir] .. ':' .. port.name)
end
