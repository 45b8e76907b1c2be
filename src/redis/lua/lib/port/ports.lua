function ports.counts(doc, dir, port)
  local record = doc[dir .. ':' .. port]
  if not record then return nil, nil, nil end
  local pushed, taken, dropped = record:match('^(%d+),(%d+)(,?d?)$')
  return tonumber(pushed), tonumber(taken), dropped ~= ''
end

function ports.set_counts(id, doc, dir, port, pushed, taken)
  local field = dir .. ':' .. port
  if not doc[field] then journal.put(cache.attached, id, nil) end
  cache.change(id, doc, field, numbers.int(pushed) .. ',' .. numbers.int(taken))
end

function ports.declare(id, doc, dir, port)
  local pushed, taken = ports.counts(doc, dir, port)
  values.admit(id, doc, dir .. ':' .. port)
  ports.set_counts(id, doc, dir, port, pushed or 0, taken or 0)
end

function ports.open(id, doc, dir, port)
  local pushed, taken, dropped = ports.counts(doc, dir, port)
  if pushed and not dropped and port ~= '*' then return pushed, taken end
  if not doc[dir .. ':*'] or ports.counts(doc, dir, '*') == nil then
    journal.refuse('REFUSED',
      'job ' .. id .. ' (' .. doc.class .. ') has no ' .. redis_keys.direction[dir] .. 'put port "' .. port .. '"')
  end
  if #port > 100 or not port:match('^[%w_]+$') then
    journal.refuse('REFUSED', 'expected a port name (at most 100 characters from a-z, A-Z, 0-9 and _), got ' .. port)
  end
  ports.declare(id, doc, dir, port)
  values.set_value(id, doc, 'd' .. dir .. ':' .. port, values.get_value(id, doc, 'd' .. dir .. ':*'))
  return pushed or 0, taken or 0
end

function ports.drop_values(id, doc, dir, port)
  local pushed, taken = ports.counts(doc, dir, port)
  if pushed > taken then lists.pop(lists.of(id, doc, dir, port, pushed - taken), pushed - taken) end
  return pushed
end

local function note_leaving(id, doc, dir, port, n)
  local field = 'm' .. dir .. ':' .. port
  cache.change(id, doc, field, minutes.counted(doc[field], n))
end

function ports.take(id, doc, dir, port, n)
  local pushed, taken = ports.open(id, doc, dir, port)
  if pushed == taken then
    local default = values.get_value(id, doc, 'd' .. dir .. ':' .. port)
    if default then log.note('read', id, dir, port, { default }) end
    return default and { default } or {}, default ~= nil
  end
  local list = lists.of(id, doc, dir, port, pushed - taken)
  local items = lists.items(list, n)
  log.note('read', id, dir, port, items)
  lists.pop(list, #items)
  ports.set_counts(id, doc, dir, port, pushed, taken + #items)
  if doc['m' .. dir .. ':' .. port] then note_leaving(id, doc, dir, port, #items) end
  return items, false
end

-- Reads from a snapshot count only if no other reader has taken values from the port since.
function ports.consume(id, doc, dir, port, cursor, n)
  local pushed, taken = ports.open(id, doc, dir, port)
  if taken ~= cursor then
    journal.refuse('CONFLICT',
      redis_keys.direction[dir] .. 'put port "' .. port .. '" of job ' .. id
      .. ': expected cursor ' .. numbers.int(taken) .. ', got ' .. numbers.int(cursor))
  end
  if n > pushed - taken then
    journal.refuse('CONFLICT',
      redis_keys.direction[dir] .. 'put port "' .. port .. '" of job ' .. id
      .. ' has fewer than ' .. numbers.int(n) .. ' values')
  end
  if n == 0 then return end
  local list = lists.of(id, doc, dir, port, pushed - taken)
  if hints.hears('/sidejob/log') then log.note('read', id, dir, port, lists.items(list, n)) end
  lists.pop(list, n)
  ports.set_counts(id, doc, dir, port, pushed, taken + n)
  if doc['m' .. dir .. ':' .. port] then note_leaving(id, doc, dir, port, n) end
end
