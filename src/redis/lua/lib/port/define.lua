-- `targets`: ends of wires, or 'call'. Without targets, removes the wires.
function define.lay(id, doc, dir, port, targets, node)
  local wire = 'wire from ' .. node .. '.' .. port
  if not wires.is_there(doc, dir, port) then
    journal.refuse('REFUSED',
      wire .. ': job ' .. id .. ' (' .. doc.class .. ') has no ' .. redis_keys.direction[dir] .. 'put port "'
      .. port .. '"')
  end
  local pushed, taken = ports.open(id, doc, dir, port)
  local text = targets == 'call' and '!' or nil
  if not text and #targets > 0 then
    local list = {}
    for i, to in ipairs(targets) do
      if not wires.is_there(to.doc, to.dir, to.port) then
        local name = to.id == doc.parent and 'the flow' or to.doc.child_name or to.id
        journal.refuse('REFUSED',
          wire .. ' to ' .. name .. '.' .. to.port .. ': job ' .. to.id .. ' (' .. to.doc.class .. ') has no '
          .. redis_keys.direction[to.dir] .. 'put port "' .. to.port .. '"')
      end
      ports.open(to.id, to.doc, to.dir, to.port)
      if not wires.reaches(id, doc, dir, to.id, to.doc, to.dir) then
        journal.refuse('REFUSED',
          wire .. ': a wire goes from an input of its flow to a child, or from a child to a sibling or an output '
            .. 'of the flow')
      end
      list[i] = to.id .. ':' .. to.dir .. ':' .. to.port
    end
    text = table.concat(list, ' ')
  end
  cache.change(id, doc, 'w' .. dir .. ':' .. port, text)
  if text and (pushed > taken or doc['d' .. dir .. ':' .. port]) then write.pass(id, doc, dir, port, {}) end
end

local function drop_port(id, doc, dir, port)
  local pushed = ports.drop_values(id, doc, dir, port)
  cache.change(id, doc, dir .. ':' .. port, numbers.int(pushed) .. ',' .. numbers.int(pushed) .. ',d')
  values.set_value(id, doc, 'd' .. dir .. ':' .. port, nil)
  audience.set_channels(id, doc, dir, port, {})
  cache.change(id, doc, 'w' .. dir .. ':' .. port, nil)
end

function define.ports(id, doc, dir, specs)
  local drop = {}
  for field in pairs(doc) do
    local port = field:sub(1, 2) == dir .. ':' and field:sub(3)
    if port and not specs[port] then drop[#drop + 1] = port end
  end
  for _, port in ipairs(drop) do
    drop_port(id, doc, dir, port)
  end
  for port, spec in pairs(specs) do
    ports.declare(id, doc, dir, port)
    values.set_value(id, doc, 'd' .. dir .. ':' .. port, spec.default)
    audience.set_channels(id, doc, dir, port, spec.channels)
  end
  values.check(id, doc)
end

function define.amend(id, doc, dir, specs, drop)
  for _, port in ipairs(drop) do
    if ports.counts(doc, dir, port) then drop_port(id, doc, dir, port) end
  end
  for port, spec in pairs(specs) do
    ports.declare(id, doc, dir, port)
    local field = 'd' .. dir .. ':' .. port
    local changed = spec.default and values.get_value(id, doc, field) ~= spec.default
    values.set_value(id, doc, field, spec.default)
    audience.set_channels(id, doc, dir, port, spec.channels)
    if changed then write.set_off(id, doc, dir, port) end
  end
  values.check(id, doc)
end
