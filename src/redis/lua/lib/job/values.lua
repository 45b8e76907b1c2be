-- Large values have their own keys. The document stores the total size, so adding a value reads no other value.
-- Removing a value of unknown size marks the total with `~`. If a marked total exceeds the maximum, all sizes are
-- added up again.

values.BIG = 512
local MOST_BYTES = 8388608
values.added = {} -- id → bytes that this script has added to the document or its lists

function values.of(doc)
  local n, rough = (doc.size or '0'):match('^(%d+)(~?)$')
  return tonumber(n), rough == '~'
end

local function set_size(id, doc, n, rough)
  cache.change(id, doc, fields.size, (n > 0 or rough) and math.max(0, n) .. (rough and '~' or '') or nil)
end

function values.add(id, doc, bytes)
  local n, rough = values.of(doc)
  set_size(id, doc, n + bytes, rough)
end

function values.lose(id, doc)
  local n = values.of(doc)
  if n > 0 then set_size(id, doc, n, true) end
end

function values.note(id, bytes) journal.put(values.added, id, (values.added[id] or 0) + bytes) end

-- A value above 512 bytes has its own key, and its field contains `^`. No other value starts with `^`.
function values.get_value(id, doc, field)
  local value = doc[field]
  if value == '^' then return cache.text_at(values.side_key(id, field)) end
  return value
end

function values.side_key(id, field) return redis_keys.side(id, 'f:' .. field) end

function values.beside(id, doc)
  local found, keys = {}, {}
  for _, field in ipairs(cache.attached_to(id, doc)) do
    if doc[field] == '^' then
      found[#found + 1] = field
      keys[#keys + 1] = values.side_key(id, field)
    end
  end
  return found, keys
end

function values.decoded(id, doc, field)
  local text = values.get_value(id, doc, field)
  return text and readable.decode(text, redis_keys.job(id) .. ' ' .. field) or nil
end

local function forget_value(id, doc, side)
  local known = cache.writes.strings[side] or cache.raw[side]
  if known then values.add(id, doc, -#known) else values.lose(id, doc) end
end

function values.set_value(id, doc, field, value)
  local is_beside = doc[field] == '^'
  if value and #value > values.BIG then
    local side = values.side_key(id, field)
    if is_beside then forget_value(id, doc, side) end
    journal.put(cache.writes.dels, side, nil)
    cache.set_text(side, value)
    journal.put(cache.attached, id, nil)
    values.add(id, doc, #value)
    return cache.change(id, doc, field, '^')
  end
  if is_beside then
    local side = values.side_key(id, field)
    forget_value(id, doc, side)
    cache.drop(side)
  end
  if value then values.note(id, #value) end
  cache.change(id, doc, field, value)
end

local function of_list(port)
  local pushed, taken = port.doc[port.field]:match('^(%d+),(%d+)')
  if port.doc['v' .. port.field] or pushed == taken then return 0 end
  local key, bytes = redis_keys.list(port), 0
  local list = cache.writes.lists[key] or { pop = 0, had = pushed - taken }
  for from = list.pop, list.had - 1, 2000 do
    bytes = bytes + tables.bytes(redis.call('LRANGE', key, from, math.min(from + 1999, list.had - 1)))
  end
  return bytes
end

local function count(id, doc)
  local bytes, _, keys = 0, values.beside(id, doc)
  for _, port in ipairs(port_refs.of(id, doc)) do bytes = bytes + of_list(port) end
  cache.fetch(keys)
  for _, key in ipairs(keys) do bytes = bytes + #(cache.text_at(key) or '') end
  if doc.has_steps == '1' then
    for name, value in pairs(cache.hash(redis_keys.side(id, 'steps'))) do bytes = bytes + #name + #value end
  end
  journal.puts = journal.puts + math.floor(bytes / 256)
  return bytes
end

local function total(id, doc)
  return (values.of(doc)) + (values.added[id] or 0) + #cache.document(id)
end

function values.has_room(id, doc, more)
  if total(id, doc) + more <= MOST_BYTES then return true end
  local _, rough = values.of(doc)
  if rough then set_size(id, doc, count(id, doc)) end
  return total(id, doc) + more <= MOST_BYTES
end

-- The caller may retry after LIMITED: a relay removes each message after its delivery, so it has room again soon.
function values.check(id, doc, more)
  if values.has_room(id, doc, more or 0) then return end
  local code = doc.relay_channel and 'LIMITED' or 'TOO_LARGE'
  journal.refuse(code, 'job ' .. id .. ': expected at most ' .. MOST_BYTES
    .. ' bytes in total (args, state, waiting values and everything else), got '
    .. total(id, doc) + (more or 0))
end

local MOST_FIELDS = 1000
local counted = {} -- id and kind → number of fields

function values.admit(id, doc, field)
  if doc[field] then return end
  local kind = field:match('^%a+:')
  local key = id .. kind
  if not counted[key] then
    local n = 0
    for name in pairs(doc) do
      if name:sub(1, #kind) == kind then n = n + 1 end
    end
    counted[key] = n
  end
  journal.put(counted, key, counted[key] + 1)
  if counted[key] <= MOST_FIELDS then return end
  local what = kind == 's:' and 'fields of state' or redis_keys.direction[kind:sub(1, 1)] .. ' ports'
  journal.refuse('TOO_LARGE',
    'job ' .. id .. ': expected at most ' .. MOST_FIELDS .. ' ' .. what .. ', got ' .. counted[key])
end
