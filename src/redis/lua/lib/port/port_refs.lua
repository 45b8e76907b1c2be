-- A port is `{ id, doc, dir, name, field }`. `field` contains its counts. Other fields have one more letter before it.
-- Separate from ports.lua, because most scripts need only the names of a job's ports.

function port_refs.at(id, doc, dir, name)
  return { id = id, doc = doc, dir = dir, name = name, field = dir .. ':' .. name }
end

-- Includes dropped ports.
function port_refs.of(id, doc)
  local found = {}
  for _, field in ipairs(cache.attached_to(id, doc)) do
    local dir, name = field:match('^([io]):(.+)$')
    if dir and doc[field] then found[#found + 1] = port_refs.at(id, doc, dir, name) end
  end
  return found
end
