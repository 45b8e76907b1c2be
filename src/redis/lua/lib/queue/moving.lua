-- Jobs that wait on the other side since somebody else serves them.
-- Made when first called.

local moving = {}

local places = require 'job/places'
local states = require 'job/states'
local due = require 'queue/due'
local sides = require 'queue/sides'
local cache = require 'runtime/cache'
local numbers = require 'runtime/numbers'
local redis_keys = require 'runtime/redis_keys'
local change_queue, fetch_jobs, find, queue = cache.change_queue, cache.fetch_jobs, cache.find, cache.queue
local int = numbers.int
local queue_key = redis_keys.queue_key

-- One slice of the jobs that wait on the other side since somebody else serves them, looked for from the last one on, so
-- that claims, which take from the front, do not shift them. A pass that has moved something is followed by another.
-- The queue keeps how far that is: the side, how many have been passed over, how many moved.
function moving.go_on(q)
  if not queue(q).moving then return 0 end
  local at_side, from, moved = queue(q).moving:match('^(%a):(%d+):(%d+)$')
  local place, n = at_side == 'p' and 'p' or nil, 0
  local members, ids = redis.call('ZREVRANGE', queue_key(q, states.indexes[place] or 'ready'), from, from + due.SLICE - 1), {}
  for i, member in ipairs(members) do ids[i] = member:sub(15) end
  fetch_jobs(ids)
  for _, id in ipairs(ids) do
    local doc = find(id)
    if doc and doc.place == place and sides.of(q, doc.class, doc.tag) ~= place then
      places.move(id, doc, sides.of(q, doc.class, doc.tag), nil, nil, true)
      n = n + 1
    end
  end
  moved = int(moved + n)
  local further
  if #members == due.SLICE then
    further = at_side .. ':' .. int(from + due.SLICE - n) .. ':' .. moved
  elseif not place then
    further = 'p:0:' .. moved
  elseif moved ~= '0' then
    further = 'r:0:0'
  end
  change_queue(q, queue_fields.moving, further)
  return n
end

return moving
