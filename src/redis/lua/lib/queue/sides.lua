function sides.own_limit(doc)
  local bounded = cache.queue(doc.queue).bounded_classes
  return bounded and bounded[doc.class] and sides.worker_limit(doc.queue, doc.class) or nil
end

function sides.fetch_limits_of(ids)
  local names = {}
  for i = 1, #ids do
    local doc = cache.find(ids[i])
    if doc and sides.is_limited(doc) then tables.append(names, sides.limits_of(doc)) end
  end
  cache.fetch_limits(names)
end

function sides.of(doc)
  local queue_record = cache.queue(doc.queue)
  local pulled = queue_record.pulled_classes
  return (doc.tag or queue_record.mode == 'pull' or (pulled and pulled[doc.class])) and PLACE.pull or nil
end

function sides.worker_limit(q, class) return 'worker:' .. q .. '/' .. class end

function sides.is_limited(doc)
  return not doc.terminating and (doc.limits or sides.own_limit(doc)) ~= nil
end

function sides.limits_of(doc)
  local keys = tables.lines(doc.limits)
  keys[#keys + 1] = sides.own_limit(doc)
  return keys
end

local serving = {}

-- A pinned job runs on its own version, even if the newest version no longer registers its class.
function sides.is_gone(doc)
  if doc.pinned_to then return false end
  local class = doc.queue .. '/' .. doc.class
  if serving[class] == nil then
    serving[class] = cache.queue(doc.queue).mode == 'pull'
      or redis.call('HEXISTS', ns .. 'workers:' .. doc.queue, doc.class) == 1
  end
  return not serving[class]
end
