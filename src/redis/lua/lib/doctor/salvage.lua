local function as_text(value)
  if type(value) == 'number' then return value % 1 == 0 and numbers.int(value) or tostring(value) end
  return (type(value) == 'string' and value) or (type(value) == 'boolean' and tostring(value)) or nil
end

function salvage.fields_in(text)
  local ok, found = pcall(cjson.decode, text)
  local doc, is_whole = {}, ok and type(found) == 'table'
  if is_whole then
    for field, value in pairs(found) do
      if type(field) == 'string' then doc[field] = as_text(value) end
    end
  else
    for field, value in text:gmatch('"([^"\\]+)":"([^"\\]*)"') do doc[field] = value end
  end
  return doc, is_whole
end

local function queue_of(id, sequence)
  for _, q in ipairs(redis.call('SMEMBERS', ns .. 'queues')) do
    for place in pairs(redis_keys.letters) do
      if redis.call('ZSCORE', redis_keys.queue(q, place), id)
        or redis.call('ZSCORE', redis_keys.queue(q, place), (sequence or '') .. ':' .. id) then
        return q
      end
    end
    if (cache.queue(q).leased or {})[id] then return q end
  end
end

local function class_of(doc)
  local entry = doc.parent and doc.child_name
    and redis.call('HGET', redis_keys.side(doc.parent, 'children'), doc.child_name)
  return entry and entry:match('^%d+,%a+,(.*)$') or nil
end

function salvage.document(id, text)
  local doc, is_whole = salvage.fields_in(text)
  doc.queue = doc.queue or queue_of(id, doc.sequence)
  doc.class = doc.class or class_of(doc)
  doc.sequence = doc.sequence or time.sequence()
  return is_whole and doc.queue and doc.class and doc or false
end

function salvage.leave_indexes(id, doc)
  local names = doc.queue and { doc.queue } or redis.call('SMEMBERS', ns .. 'queues')
  for _, q in ipairs(names) do
    for place in pairs(redis_keys.letters) do
      local key = redis_keys.queue(q, place)
      if redis.call('ZSCORE', key, id) then cache.zset(key, id, false) end
      for _, member in ipairs(place:sub(1, 5) == 'ready' and redis.call('ZRANGE', key, 0, 999) or {}) do
        if member:match(':(%d+)$') == id then cache.zset(key, member, false) end
      end
    end
    if (cache.queue(q).leased or {})[id] then cache.zset(redis_keys.queue(q, 'leases'), id, false) end
    kinds.drop(q, id, (kinds.of(doc)))
  end
end

function salvage.forget(name)
  local key = ns .. 'unreadable'
  local left, list = {}, cache.text_at(key) or ''
  for line in list:gmatch('[^\n]+') do
    local listed = line:match('^%d+ (.*)$')
    if listed ~= name and listed and listed:sub(1, #name + 1) ~= name .. ' ' then
      left[#left + 1] = line .. '\n'
    else
      cache.del(key .. ':' .. (listed or ''))
    end
  end
  local text = table.concat(left)
  if text ~= list then cache.replace_text(key, text ~= '' and text) end
  journal.put(readable.damaged, ns .. name, nil)
end

local function erase_packed(id)
  local number, at = pieces.place_of(id)
  local text = number and cache.text_at(redis_keys.piece(number))
  if not text then return end
  local piece = pieces.read(text)
  if piece and pieces.has(piece, at) then
    journal.put(cache.pieces, number, piece)
    cache.take_out(number, piece, at)
  elseif not piece then
    cache.del(redis_keys.piece(number))
    journal.put(cache.raw, redis_keys.piece(number), false)
  end
  if not piece or piece.n == 0 then salvage.forget('jobs:' .. number) end
end

salvage.side_types = { children = 'hash', ['waiting'] = 'set', steps = 'hash', runs = 'list', inputs = 'string',
  record = 'stream', log = 'stream' }

function salvage.erase(id)
  local text = cache.text_at(redis_keys.job(id))
  if not text then return erase_packed(id) end
  local doc = salvage.fields_in(text)
  salvage.leave_indexes(id, doc)
  local known = { sequence = doc.sequence or time.sequence(), queue = doc.queue or 'default', class = doc.class or '',
    place = PLACE.suspended, parent = doc.parent, child_name = doc.child_name, aliases = doc.aliases,
    unique_scope = doc.unique_scope }
  for field, value in pairs(doc) do
    if field:find('^[io]:') or value == '^' then known[field] = value end
  end
  journal.put(cache.docs, id, known)
  if not journal.isolate(id, erase.job, id, known) then
    journal.put(cache.docs, id, false)
    journal.put(cache.dirty, id, true)
  end
  for name in pairs(salvage.side_types) do cache.del(redis_keys.side(id, name)) end
  cache.del(ns .. 'result:' .. id)
  salvage.forget('job:' .. id)
end
