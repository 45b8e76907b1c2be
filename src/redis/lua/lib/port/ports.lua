function ports.title(port) return redis_keys.direction[port.dir] .. 'put port "' .. port.name .. '"' end

function ports.missing(port)
  return 'job ' .. port.id .. ' (' .. port.doc.class .. ') has no ' .. ports.title(port)
end

function ports.counts(port)
  local record = port.doc[port.field]
  if not record then return nil, nil, nil end
  local pushed, taken, dropped = record:match('^(%d+),(%d+)(,?d?)$')
  return tonumber(pushed), tonumber(taken), dropped ~= ''
end

function ports.set_counts(port, pushed, taken)
  if not port.doc[port.field] then journal.put(cache.attached, port.id, nil) end
  cache.change(port.id, port.doc, port.field, pushed .. ',' .. taken)
end

function ports.default(port) return values.get_value(port.id, port.doc, 'd' .. port.field) end
function ports.set_default(port, value) values.set_value(port.id, port.doc, 'd' .. port.field, value) end

function ports.declare(port)
  local pushed, taken = ports.counts(port)
  values.admit(port.id, port.doc, port.field)
  ports.set_counts(port, pushed or 0, taken or 0)
end

function ports.open(port)
  local pushed, taken, dropped = ports.counts(port)
  if pushed and not dropped and port.name ~= '*' then return pushed, taken end
  local any = port_refs.at(port.id, port.doc, port.dir, '*')
  if not ports.counts(any) then journal.refuse('REFUSED', ports.missing(port)) end
  if #port.name > 100 or not port.name:match('^[%w_]+$') then
    journal.refuse('REFUSED',
      'expected a port name (at most 100 characters from a-z, A-Z, 0-9 and _), got ' .. port.name)
  end
  ports.declare(port)
  ports.set_default(port, ports.default(any))
  return pushed or 0, taken or 0
end

function ports.list(port)
  local pushed, taken = ports.counts(port)
  return lists.of(port, pushed - taken), pushed - taken
end

local function leave(port, list, n, pushed, taken)
  lists.pop(list, n)
  ports.set_counts(port, pushed, taken + n)
  local field = 'm' .. port.field
  if port.doc[field] then cache.change(port.id, port.doc, field, minutes.counted(port.doc[field], n)) end
end

function ports.take(port, n)
  local pushed, taken = ports.open(port)
  if pushed == taken then
    local default = ports.default(port)
    if default then log.note('read', port, { default }) end
    return default and { default } or {}, default ~= nil
  end
  local list = lists.of(port, pushed - taken)
  local items = lists.items(list, n)
  log.note('read', port, items)
  leave(port, list, #items, pushed, taken)
  return items, false
end

function ports.consume(port, cursor, n)
  local pushed, taken = ports.open(port)
  local of = ports.title(port) .. ' of job ' .. port.id
  if taken ~= cursor then
    journal.refuse('CONFLICT', of .. ': expected cursor ' .. taken .. ', got ' .. cursor)
  end
  if n > pushed - taken then
    journal.refuse('CONFLICT', of .. ' has fewer than ' .. n .. ' values')
  end
  if n == 0 then return end
  local list = lists.of(port, pushed - taken)
  if hints.hears('/sidejob/log') then log.note('read', port, lists.items(list, n)) end
  leave(port, list, n, pushed, taken)
end
