-- A wire leads to a child, a sibling or the parent, so wires never form a cycle, even after adoptions.
function wires.reaches(from, to)
  if from.dir == 'i' then return to.dir == 'i' and to.doc.parent == from.id end
  local parent = from.doc.parent
  return parent ~= nil and (to.dir == 'i' and to.doc.parent == parent or to.dir == 'o' and to.id == parent)
end

function wires.is_there(port)
  local pushed, _, dropped = ports.counts(port)
  return pushed and not dropped or port.doc[port.dir .. ':*']
end

function wires.ends_of(port)
  local ends = {}
  for id, dir, name in port.doc['w' .. port.field]:gmatch('(%d+):([io]):([%w_]+)') do
    local doc = cache.find(id)
    local to = doc and port_refs.at(id, doc, dir, name)
    if not to or not wires.reaches(port, to) or not wires.is_there(to) then return nil end
    ends[#ends + 1] = to
  end
  return #ends > 0 and ends or nil
end

function wires.wired_to(doc, ids)
  for field, wires in pairs(doc) do
    if field:sub(1, 3) == 'wo:' then
      for to_id in wires:gmatch('(%d+):[io]:') do ids[#ids + 1] = to_id end
    end
  end
end

function wires.watch(port)
  local field = 'm' .. port.field
  if port.doc[field] then return end
  cache.change(port.id, port.doc, field, time.minute .. ':0')
end

local MAX_PASSED, MAX_PASSED_BYTES, MAX_DOCUMENT = 20, 2048, 65536

function wires.keep(port, items)
  local field = 'l' .. port.field
  if #cache.document(port.id) > MAX_DOCUMENT then return end
  local kept, bytes = {}, 0
  local function keep(item)
    bytes = bytes + #item
    if #kept < MAX_PASSED and bytes <= MAX_PASSED_BYTES then kept[#kept + 1] = item end
  end
  for i = #items, math.max(1, #items - MAX_PASSED + 1), -1 do keep(items[i]) end
  for _, item in ipairs(values.decoded(port.id, port.doc, field) or {}) do keep(item) end
  cache.change(port.id, port.doc, field, kept[1] and cjson.encode(kept))
end

function wires.holds(port)
  local pushed, taken = ports.counts(port)
  return pushed > taken
end
