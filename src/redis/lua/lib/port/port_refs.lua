-- A port is `{ id, doc, dir, name, field }`. The document has its counts in the field named `field`, and its other
-- values in fields with a letter before this name. Most scripts only check whether a job has ports, so this file exists
-- apart from ports.lua.

function port_refs.at(id, doc, dir, name)
  return { id = id, doc = doc, dir = dir, name = name, field = dir .. ':' .. name }
end

function port_refs.of(id, doc, side)
  local found = {}
  for _, field in ipairs(cache.attached_to(id, doc)) do
    local dir, name = field:match('^([io]):(.+)$')
    if dir and dir == (side or dir) and doc[field] then found[#found + 1] = port_refs.at(id, doc, dir, name) end
  end
  return found
end
