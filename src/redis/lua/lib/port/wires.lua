-- A port with wires stores no values. Its wires are stored as `id:dir:port`, separated by spaces. `!` calls the parent,
-- or the job itself if the port is an input.

-- A wire leads to a child, a sibling or the parent. So wires never form a cycle, even after adoptions.
function wires.reaches(id, doc, dir, to_id, to_doc, to_dir)
  if dir == 'i' then return to_dir == 'i' and to_doc.parent == id end
  return doc.parent ~= nil and (to_dir == 'i' and to_doc.parent == doc.parent or to_dir == 'o' and to_id == doc.parent)
end

function wires.is_there(doc, dir, port)
  local pushed, _, dropped = ports.counts(doc, dir, port)
  return pushed and not dropped or doc[dir .. ':*']
end

function wires.ends_of(id, doc, dir, port)
  local ends = {}
  for to_id, to_dir, to_port in doc['w' .. dir .. ':' .. port]:gmatch('(%d+):([io]):([%w_]+)') do
    local to_doc = cache.find(to_id)
    if not to_doc or not wires.reaches(id, doc, dir, to_id, to_doc, to_dir) then return nil end
    if not wires.is_there(to_doc, to_dir, to_port) then return nil end
    ends[#ends + 1] = { id = to_id, doc = to_doc, dir = to_dir, port = to_port }
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

function wires.watch(id, doc, dir, port)
  local field = 'm' .. dir .. ':' .. port
  if not doc[field] then cache.change(id, doc, field, numbers.int(math.floor(time.now / 60000)) .. ':0') end
end

-- Maximum number and bytes of the newest values that a source keeps, and maximum bytes of its document.
local MAX_PASSED, MAX_PASSED_BYTES, MAX_DOCUMENT = 20, 2048, 65536

function wires.keep(id, doc, dir, port, items)
  local field, key = 'l' .. dir .. ':' .. port, redis_keys.key_of(id)
  if #(cache.raw[key] or '') > MAX_DOCUMENT then return end
  local kept, bytes = {}, 0
  local function keep(item)
    bytes = bytes + #item
    if #kept < MAX_PASSED and bytes <= MAX_PASSED_BYTES then kept[#kept + 1] = item end
  end
  for i = #items, math.max(1, #items - MAX_PASSED + 1), -1 do keep(items[i]) end
  for _, item in ipairs(doc[field] and readable.decode(doc[field], key .. ' ' .. field) or {}) do keep(item) end
  cache.change(id, doc, field, kept[1] and cjson.encode(kept))
end

function wires.holds(id, doc, dir, port)
  local pushed, taken = ports.counts(doc, dir, port)
  return pushed > taken
end
