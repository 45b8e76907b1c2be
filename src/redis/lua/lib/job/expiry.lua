local DAY, MONTH = 86400000, 2592000000

local function has_inputs(id, doc)
  for _, port in ipairs(port_refs.of(id, doc, 'i')) do
    if not doc[port.field]:find('d', 1, true) then return true end
  end
  return false
end

function expiry.listens(id, doc)
  for _, port in ipairs(port_refs.of(id, doc, 'i')) do
    if port.name == '*' or doc['c' .. port.field] then return true end
  end
  return false
end

function expiry.of(id, doc, place)
  if place == PLACE.completed and has_inputs(id, doc) and not doc.relay_channel and not doc.family_top then
    if doc.parent or expiry.listens(id, doc) then return numbers.never end
    return time.now + (tonumber(doc.retain) or MONTH)
  end
  if place == PLACE.failed then return time.now + (tonumber(doc.retain_failed) or outbox.retain() or MONTH) end
  return time.now + (tonumber(doc.retain) or outbox.retain() or DAY)
end
