-- register: the worker classes of a queue as they are to be known; jobs that wait are moved to where their class is
-- now served.
--
-- keys: the registry and the queue
-- args: ns, clock, seed, queue_name, whole, ...
-- returns: {'registered', rings, 'changed' or ''}
--          rest: class, definition ('' removes), 'pull' | 'push' | '' each; with `whole` the classes are all there are

-- @include lib/base
-- @include lib/store
-- @include lib/status
-- @include lib/entries
-- @include lib/leases
-- @include lib/ports
-- @include lib/family
-- @include lib/follow
-- @include lib/limits
-- @include lib/create
-- @include lib/waiters
-- @include lib/queues

local key, listed, changed, served = ns .. 'workers:' .. queue_name, {}, false, {}
local current = hash(key)
for _ = 1, take_int() do
  local class, definition, serves = take(), take(), take()
  listed[class] = true
  if definition == '' then definition = false end
  if (current[class] or false) ~= definition then
    hset(key, class, definition)
    changed = true
    if definition then served[class] = serves end
  end
end
if whole ~= '' then
  for class, definition in pairs(current) do
    if not listed[class] and cjson.decode(definition)['local'] then
      hset(key, class, false)
      changed = true
    end
  end
end

local MOVES = 1000
local function move_waiting(place, to_pull)
  local members = redis.call('ZRANGE', queue_key(queue_name, place), 0, MOVES - 1)
  local ids = {}
  for i, member in ipairs(members) do ids[i] = member:sub(15) end
  fetch_jobs(ids)
  for _, id in ipairs(ids) do
    local doc = find(id)
    if doc and served[doc.c] == (to_pull and 'pull' or 'push') then
      change(id, doc, 'pl', to_pull and '1' or nil)
      enqueue(id, doc, true)
    end
  end
end
if next(served) then
  move_waiting('ready', true)
  move_waiting('ready:pull', false)
  to_ring[queue_name] = to_ring[queue_name] or 0
end
-- A queue is known from its first class on.
if changed then change_queue(queue_name, 'wk', queue(queue_name).wk) end
if changed and hints_wanted() then
  local classes = {}
  for class, definition in pairs(hash(key)) do classes[#classes + 1] = cjson.encode(class) .. ':' .. definition end
  push(told, { '/sidejob/workers/' .. queue_name, '@\n\nl\n{' .. table.concat(classes, ',') .. '}' })
end
ring_all()
flush()
return { 'registered', rings, changed and 'changed' or '' }
