-- Computes the records that Redis should have, for `verify` and `repair`.

expected.places = { false, PLACE.pull, PLACE.timers, PLACE.leased, PLACE.suspended, PLACE.completed, PLACE.failed,
  PLACE.terminated }

function expected.lost_values(id, doc)
  local lost = {}
  for field, value in pairs(doc) do
    if cache.is_beside(field, value) and redis.call('EXISTS', values.side_key(id, field)) == 0 then
      lost[#lost + 1] = field
    end
  end
  return lost
end

function expected.values_of(port)
  local text = port.doc['v' .. port.field]
  return text and readable.decode(text, '') or {}, redis.call('LLEN', redis_keys.list(port))
end

function expected.listening(id, doc)
  local found = {}
  for _, port in ipairs(port_refs.of(id, doc, 'i')) do
    for _, channel in ipairs(audience.channels_of(port)) do
      found[#found + 1] = { port = port, channel = channel, member = id .. ':' .. port.name }
    end
  end
  return found
end

function expected.relays(channel, id)
  local doc = id and cache.find(id)
  return doc and doc.relay_channel == channel
end

function expected.strangers(id, doc)
  local found = {}
  for _, child in ipairs(kin.children_of(id, doc)) do
    local child_doc = cache.find(child.id)
    local is_child = child_doc and child_doc.parent == id and child_doc.child_name == child.name
    if not is_child and not readable.damaged[redis_keys.job(child.id)] then
      found[#found + 1] = { id = child.id, name = child.name, is_there = child_doc and true }
    end
  end
  return found
end

function expected.followed(id, doc)
  local n, children = { b = 0, s = 0, c = 0, x = 0 }, {}
  for child, child_doc in kin.each(id, doc) do
    local is = states.kinds[states.of(child_doc)]
    n[is] = n[is] + 1
    children[#children + 1] = { id = child, doc = child_doc, is = is }
  end
  return n.b .. ',' .. n.s .. ',' .. n.x, children
end

local rooted = {}
function expected.is_above_itself(id)
  local way, met, above = {}, {}, id
  while above and not rooted[above] and not met[above] do
    met[above] = true
    way[#way + 1] = above
    local doc = cache.find(above)
    above = doc and doc.parent
  end
  if above and met[above] then return above == id end
  for _, job in ipairs(way) do rooted[job] = true end
  return false
end

function expected.holds_slot(id, key)
  local doc = cache.find(id)
  return doc and doc.place == PLACE.leased and tables.has(tables.lines(doc.held_limits), key)
end

function expected.has_alias(id, alias)
  local doc = id and id:match('^%d+$') and cache.find(id)
  return doc and tables.has(aliases.of(id, doc), alias)
end

function expected.repeats(id)
  local doc = cache.find(id)
  return doc and doc.repeats
end

function expected.lost_classes(q)
  local lost = {}
  for class, definition in pairs(cache.hash(ns .. 'workers:' .. q)) do
    if not readable.decode(definition, ns .. 'workers:' .. q .. ' ' .. class) then lost[#lost + 1] = class end
  end
  return lost
end

local MAX_LANE = 86400000
function expected.endless_lanes(q)
  local found = {}
  for lane, till in pairs(cache.queue(q).lanes) do
    if type(till) ~= 'number' or till > time.now + MAX_LANE then found[#found + 1] = lane end
  end
  return found
end

local last_id
function expected.last_id()
  last_id = last_id or ids.stored()
  return last_id
end

function expected.system_listeners()
  local n = 0
  for _, channel in ipairs(redis.call('HKEYS', ns .. 'channels')) do
    if audience.is_system(channel) then n = n + redis.call('ZCARD', ns .. 'channel:' .. channel) end
  end
  return n
end

function expected.constraints()
  local kept, all = {}, readable.decode(cache.text_at(ns .. 'constraints') or '{}', ns .. 'constraints') or {}
  local version = tonumber(all.version)
  local is_whole = version and type(all.list) == 'table'
  for name, one in pairs(type(all.list) == 'table' and all.list or {}) do
    if type(one) == 'string' and readable.decode(one, '') then kept[name] = one else is_whole = false end
  end
  return kept, version, is_whole
end
