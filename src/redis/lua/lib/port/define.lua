-- `targets`: ports at the ends of the wires, or 'call'. An empty list removes the wires.
function define.lay(port, targets, node)
  local wire = 'wire from ' .. node .. '.' .. port.name
  if not wires.is_there(port) then journal.refuse('REFUSED', wire .. ': ' .. ports.missing(port)) end
  local pushed, taken = ports.open(port)
  local text = targets == 'call' and '!' or nil
  if not text and #targets > 0 then
    local list = {}
    for i, to in ipairs(targets) do
      if not wires.is_there(to) then
        local name = to.id == port.doc.parent and 'the flow' or to.doc.child_name or to.id
        journal.refuse('REFUSED', wire .. ' to ' .. name .. '.' .. to.name .. ': ' .. ports.missing(to))
      end
      ports.open(to)
      if not wires.reaches(port, to) then
        journal.refuse('REFUSED',
          wire .. ': expected a wire from an input of the flow to a child, between two children, or from a child '
            .. 'to an output of the flow')
      end
      list[i] = to.id .. ':' .. to.field
    end
    text = table.concat(list, ' ')
  end
  cache.change(port.id, port.doc, 'w' .. port.field, text)
  if text and (pushed > taken or port.doc['d' .. port.field]) then write.pass(port) end
end

local function drop_port(port)
  local pushed = ports.counts(port)
  lists.pop(ports.list(port))
  cache.change(port.id, port.doc, port.field, pushed .. ',' .. pushed .. ',d')
  ports.set_default(port, nil)
  audience.set_channels(port, {})
  cache.change(port.id, port.doc, 'w' .. port.field, nil)
end

local function set_port(port, spec)
  ports.declare(port)
  ports.set_default(port, spec.default)
  audience.set_channels(port, spec.channels)
end

function define.ports(id, doc, dir, specs)
  for _, port in ipairs(port_refs.of(id, doc, dir)) do
    if not specs[port.name] then drop_port(port) end
  end
  for name, spec in pairs(specs) do set_port(port_refs.at(id, doc, dir, name), spec) end
  values.check(id, doc)
end

function define.amend(id, doc, dir, specs, drop)
  for _, name in ipairs(drop) do
    local port = port_refs.at(id, doc, dir, name)
    if ports.counts(port) then drop_port(port) end
  end
  for name, spec in pairs(specs) do
    local port = port_refs.at(id, doc, dir, name)
    local changed = spec.default and ports.default(port) ~= spec.default
    set_port(port, spec)
    if changed then write.set_off(port) end
  end
  values.check(id, doc)
end
