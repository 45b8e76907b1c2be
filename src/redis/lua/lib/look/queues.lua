function queues.names()
  local names = redis.call('SMEMBERS', ns .. 'queues')
  table.sort(names)
  return names
end

function queues.save(name) pcall(redis.call, 'SET', redis_keys.queue(name), cjson.encode(cache.queues[name])) end

function queues.row(name)
  local queue_record = cache.queue(name)
  if not queue_record.jobs_at then
    tally.look_at_all(name)
    if cache.raw[redis_keys.queue(name)] then queues.save(name) end
  end
  local function at(place) return (tally.known(queue_record, place)) end
  local oldest, other = queue_record.first_ready or '', queue_record.first_pull or ''
  if oldest == '' or (other ~= '' and other < oldest) then oldest = other end
  return row_of.queue {
    name = name,
    settings = cjson.encode(queue_record),
    lanes = lanes.count(name),
    ready = at('ready'),
    pull = at('ready:pull'),
    timers = at('timers'),
    leases = at('leases'),
    suspended = at('suspended'),
    completed = at('completed'),
    failed = at('failed'),
    terminated = at('terminated'),
    oldest = oldest,
  }
end

function queues.asked(name) return name ~= '' and { name } or queues.names() end

function queues.fetch(names, more_keys)
  local keys = more_keys or {}
  for _, name in ipairs(names) do keys[#keys + 1] = redis_keys.queue(name) end
  cache.fetch(keys)
end
