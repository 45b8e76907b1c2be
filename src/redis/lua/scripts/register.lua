-- Registers the worker classes of a queue, and moves waiting jobs to the lanes or pull workers that serve their class.
--
-- by: API, tick
-- reads: audience, channel, hints, listened
-- updates: job, jobs, limit, queue, quota, workers
-- writes: lane, limits, live, queues, schema, wake
-- whole: also removes all other classes that are functions of the Worker
-- rest: for each class: name, definition ('' removes it), 'pull' | 'call' | 'push' | '', concurrency ('': unlimited),
--   definition to replace ('': any, '*': any except a function's)

local queue_name, whole = args.take(), args.take()

local key, listed, changed, moved = ns .. 'workers:' .. queue_name, {}, false, false
local current = cache.hash(key)

local function is_marked(field, class) return (cache.queue(queue_name)[field] or {})[class] end

local function mark(field, class, value)
  if is_marked(field, class) == value then return false end
  local classes = cache.queue(queue_name)[field] or {}
  classes[class] = value
  cache.change_queue(queue_name, field, next(classes) and classes or nil)
  return true
end

-- A concurrency that was set on the limit itself stays until the definition of the class changes.
local function bound(class, concurrency, anew)
  local own = sides.worker_limit(queue_name, class)
  if not concurrency and not is_marked(queue_fields.bounded_classes, class) then return end
  cache.fetch({ ns .. 'schema' })
  mark(queue_fields.bounded_classes, class, concurrency and true or nil)
  if concurrency and (anew or not limits.of(own)) then
    limits.define(own, { concurrency = concurrency, gone = false })
  elseif not concurrency and limits.of(own) then
    limits.remove(own)
  end
end

for _ = 1, args.take_int() do
  local class, definition, serves, concurrency, replaced = unpack(args.take_many(5), 1, 5)
  if replaced == '*' then
    local function_of = current[class] and (readable.decode(current[class], key .. ' ' .. class) or {})['local']
    if function_of then return reply.overtaken { definition = current[class] } end
  elseif replaced ~= '' and current[class] ~= replaced then
    return reply.overtaken { definition = current[class] or '' }
  end
  listed[class] = true
  if definition == '' then definition = false end
  local differs = (current[class] or false) ~= definition
  if differs then
    cache.hset(key, class, definition)
    changed = true
  end
  bound(class, tonumber(concurrency), differs)
  -- Runs of these classes call other services, so a lane takes only a few of them.
  mark(queue_fields.called_classes, class, definition and serves == 'call' or nil)
  -- Removing a class does not move its waiting jobs.
  if definition then moved = mark(queue_fields.pulled_classes, class, serves == 'pull' or nil) or moved end
end
if whole ~= '' then
  for class, definition in pairs(current) do
    if not listed[class] and (readable.decode(definition, key .. ' ' .. class) or {})['local'] then
      cache.hset(key, class, false)
      bound(class)
      mark(queue_fields.called_classes, class, nil)
      changed = true
    end
  end
end

if changed and hints.hears('/sidejob/workers/' .. queue_name) then
  local classes = {}
  for class, definition in pairs(cache.hash(key)) do
    classes[#classes + 1] = cjson.encode(class) .. ':' .. definition
  end
  hints.publish('/sidejob/workers/' .. queue_name, '{' .. table.concat(classes, ',') .. '}')
end
-- The first class of a queue creates the queue.
if changed then cache.change_queue(queue_name, queue_fields.wake_at, cache.queue(queue_name).wake_at) end
if moved then anew.sort(queue_name) end
bells.ring_ready()
work.flush()
return reply.registered { rings = bells.rings, changed = changed and 'changed' or '' }
