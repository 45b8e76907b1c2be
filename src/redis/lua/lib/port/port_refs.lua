-- A port is `{ id, doc, dir, name, field }`. `field` contains its counts. The names of its other fields have one more
-- letter at the start. Separate from ports.lua, because most scripts only check whether a job has ports.

function port_refs.at(id, doc, dir, name)
  return { id = id, doc = doc, dir = dir, name = name, field = dir .. ':' .. name }
end

-- Includes dropped ports.
function port_refs.of(id, doc, side)
  local found = {}
  for _, field in ipairs(cache.attached_to(id, doc)) do
    local dir, name = field:match('^([io]):(.+)$')
    if dir and dir == (side or dir) and doc[field] then found[#found + 1] = port_refs.at(id, doc, dir, name) end
  end
  return found
end
