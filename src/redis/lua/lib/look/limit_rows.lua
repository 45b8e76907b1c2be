function limit_rows.of(key, waiting, since, started, starts)
  local state = limits.at(key)
  if not state.settings or state.settings.gone then return end
  return row_of.limit { key = key, document = cjson.encode(state.settings), held = numbers.int(state.taken),
    waiting = numbers.int(waiting), since = since or '', started = numbers.int(started or 0), starts = starts or {} }
end

-- Returns the limits that have a time, and the number of jobs that wait for any limit.
function limit_rows.named(names)
  local named, waiting = {}, 0
  for _, name in ipairs(names) do
    waiting = waiting + (cache.queue(name).at_limits or 0)
    for key in pairs(cache.queue(name).limit_moments or {}) do named[#named + 1] = key end
  end
  return named, waiting
end

function limit_rows.keys_of(list)
  local limit_keys = {}
  for i, key in ipairs(list) do limit_keys[i] = redis_keys.limit_key(key) end
  return limit_keys
end

-- Returns the limits at which jobs wait, and how many of the waiting jobs it has not found. Limits that no queue names
-- are read only if the named ones do not account for all waiting jobs.
function limit_rows.waited(named, waiting, most)
  local found, seen = {}, {}
  local function add(list)
    cache.fetch(limit_rows.keys_of(list))
    for _, key in ipairs(list) do
      local settings = not seen[key] and limits.at(key).settings
      seen[key] = true
      if settings then
        local n = settings.waiting or redis.call('ZCARD', redis_keys.limit_key(key, 'waiting'))
        waiting = waiting - n
        if n > 0 then found[#found + 1] = { key, n } end
      end
    end
  end
  if waiting > 0 then add(tables.slice(named, 1, most)) end
  if waiting > 0 then add(redis.call('SSCAN', ns .. 'limits', '0', 'COUNT', most)[2]) end
  return found, waiting
end
