-- A port is `{ id, doc, dir, name, field }`. The document stores the counts of port `out` in the field `o:out`, and its
-- other data in fields with a letter in front: `wo:out` has its wires.

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
