-- Reads the limits that documents of queues name, and other limits only if jobs wait for them. `left`: number of jobs
-- that wait for limits that were not read.
function waited.limits(names, most, keys)
  local found, named, left = {}, {}, 0
  for _, name in ipairs(names) do
    left = left + (cache.queue(name).at_limits or 0)
    for key in pairs(cache.queue(name).limit_moments or {}) do named[#named + 1] = key end
  end
  local function add(list)
    for _, key in ipairs(list) do keys[#keys + 1] = redis_keys.limit(key) end
    cache.fetch(keys)
    for _, key in ipairs(list) do
      local at = redis_keys.limit(key)
      local text = not found[key] and cache.text_at(at)
      local settings = text and readable.decode(text, at)
      if settings then
        found[key] = tonumber(settings[limit_fields.waiting]) or redis.call('ZCARD', redis_keys.limit(key, 'waiting'))
        left = left - found[key]
      end
    end
  end
  if left > 0 then add(tables.slice(named, 1, most)) end
  if left > 0 then add(redis.call('SSCAN', ns .. 'limits', '0', 'COUNT', most)[2]) end
  return found, left
end
