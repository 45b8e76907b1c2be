-- A full Redis refuses the first write of a script if this write may need memory, but accepts every command after a
-- DEL.
local function call(...)
  if not cache.makes_room then return redis.call(...) end
  cache.makes_room = false
  local ok, answer = pcall(redis.call, ...)
  if ok then return answer end
  redis.call('DEL', ns .. 'room')
  return redis.call(...)
end

-- unpack fails near 8,000 arguments in Redis' Lua and near 5,000 in gopher-lua.
local function call_in_pieces(command, key, args)
  local sum, answer = 0, nil
  for from = 1, #args, 2400 do
    local to = math.min(from + 2399, #args)
    if key then
      answer = call(command, key, unpack(args, from, to))
    else
      answer = call(command, unpack(args, from, to))
    end
    sum = sum + (tonumber(answer) or 0)
  end
  return sum
end

local function grows_anew(key)
  local is_anew = false
  for _, kind in ipairs({ 'zsets', 'hashes', 'sets' }) do
    local grows = false
    for _, value in pairs(cache.writes[kind][key] or {}) do grows = grows or value end
    if not grows then cache.writes[kind][key] = nil end
    is_anew = is_anew or grows
  end
  return is_anew
end

local function keys_to_delete()
  local dels, first, zsets, hashes, sets = {}, {}, cache.writes.zsets, cache.writes.hashes, cache.writes.sets
  for key in pairs(cache.writes.dels) do
    local is_anew = (zsets[key] or hashes[key] or sets[key]) and grows_anew(key)
    is_anew = is_anew or (cache.writes.lists[key] and cache.writes.lists[key].push[1])
    local list = is_anew and first or dels
    if not cache.writes.strings[key] and not cache.writes.expiring[key] then list[#list + 1] = key end
  end
  call_in_pieces('DEL', nil, first)
  for key, list in pairs(cache.writes.lists) do
    if list.pop > 0 and list.pop == list.had and not list.push[1] then dels[#dels + 1] = key end
  end
  return dels
end

local commands = { zsets = { 'ZADD', 'ZREM' }, sets = { 'SADD', 'SREM' }, hashes = { 'HSET', 'HDEL' } }

local function grow(kind, key, leaving)
  local members, of, gone, kept = cache.writes[kind][key], redis_keys.counted[key], {}, {}
  if of and of[2] == 'leases' then leased.keep(of[1], members) end
  for member, value in pairs(members) do
    if value then
      if kind == 'zsets' then kept[#kept + 1] = value == numbers.never and '+inf' or numbers.int(value) end
      kept[#kept + 1] = member
      if kind == 'hashes' then kept[#kept + 1] = value end
    else
      gone[#gone + 1] = member
    end
  end
  local added = call_in_pieces(commands[kind][1], key, kept)
  if gone[1] then leaving[#leaving + 1] = { commands[kind][2], key, gone } end
  if of then tally.note(key, gone, kept, added) end
end

local function grow_all(leaving)
  local wake_key = ns .. 'wake'
  for key in pairs(cache.writes.zsets) do
    if key ~= wake_key then grow('zsets', key, leaving) end
  end
  if cache.writes.zsets[wake_key] then grow('zsets', wake_key, leaving) end
  for _, kind in ipairs({ 'sets', 'hashes' }) do
    for key in pairs(cache.writes[kind]) do grow(kind, key, leaving) end
  end
end

-- Documents count the values of lists. So if the documents cannot be written, the pushed values are removed again.
local pushed = {}

local function undo_pushes(why)
  for _, one in ipairs(pushed) do redis.call('LTRIM', one.key, 0, -1 - one.n) end
  error(why, 0)
end

local function grow_lists()
  pushed = {}
  for key, list in pairs(cache.writes.lists) do
    for from = 1, #list.push, 2400 do
      local to = math.min(from + 2399, #list.push)
      local ok, why = pcall(call, 'RPUSH', key, unpack(list.push, from, to))
      if not ok then undo_pushes(why) end
      pushed[#pushed + 1] = { key = key, n = to - from + 1 }
    end
  end
end

local function write_texts(more_to_come, dels)
  local sets, largest = {}, 0
  local function set(key, text)
    cache.raw[key] = text
    sets[#sets + 1] = key
    sets[#sets + 1] = text
  end
  for number in pairs(cache.changed_pieces) do
    local key, piece = redis_keys.piece(number), cache.pieces[number]
    if piece and piece.n > 0 then
      set(key, pieces.text_of(piece))
    else
      cache.raw[key] = false
      cache.pieces[number] = false
      dels[#dels + 1] = key
    end
  end
  for id in pairs(cache.dirty) do
    local key, doc = redis_keys.job(id), cache.docs[id]
    if doc then
      local text = cjson.encode(doc)
      largest = math.max(largest, #text)
      set(key, text)
    elseif cache.raw[key] ~= false then
      cache.raw[key] = false
      dels[#dels + 1] = key
    end
  end
  large.note(largest)
  for key, text in pairs(cache.writes.strings) do set(key, text) end
  for q in pairs(more_to_come and {} or cache.queue_dirty) do
    set(redis_keys.queue(q), cjson.encode(cache.queues[q]))
  end
  local ok, why = pcall(call_in_pieces, 'MSET', nil, sets)
  if not ok then undo_pushes(why) end
end

-- If a member to remove is missing or was never counted, the index is counted again.
local function shrink(more_to_come, leaving, dels)
  local miscounted = {}
  for _, one in ipairs(leaving) do
    local of, left = redis_keys.counted[one[2]], call_in_pieces(one[1], one[2], one[3])
    if of and (left < #one[3] or tally.add(cache.queues[of[1]], of[2], 0) < 0) then
      tally.look(of[1], of[2])
      miscounted[of[1]] = true
    end
  end
  for key, list in pairs(cache.writes.lists) do
    if list.pop > 0 and (list.pop < list.had or list.push[1]) then redis.call('LTRIM', key, list.pop, -1) end
  end
  call_in_pieces('DEL', nil, dels)
  for key, e in pairs(cache.writes.expiring) do redis.call('SET', key, e[1], 'PX', numbers.int(e[2])) end
  for q in pairs(miscounted) do cache.queue_dirty[q] = true end
  for q in pairs(more_to_come and {} or miscounted) do
    redis.call('SET', redis_keys.queue(q), cjson.encode(cache.queues[q]))
  end
  for key, before in pairs(cache.writes.trims) do redis.call('ZREMRANGEBYSCORE', key, '-inf', numbers.int(before)) end
  for key, ms in pairs(cache.writes.expires) do redis.call('PEXPIRE', key, numbers.int(ms)) end
end

-- Upstash allows 100 MB per key. A new entry of n bytes trims the log to 20 MB / n entries. With entries of at most
-- 16 KB, a log needs at most 77 MB.
local LOG_LENGTH, LOG_BYTES = 10000, 20971520
local RECORD_LENGTH, RECORD_BYTES = 20000, 8388608

local function most_like(entry, length, bytes) return math.max(1, math.min(length, math.floor(bytes / #entry))) end

local function flush_messages()
  for _, e in ipairs(cache.writes.log) do
    redis.call('XADD', ns .. 'log', 'MAXLEN', '~', most_like(e[3], LOG_LENGTH, LOG_BYTES), '*', 'at',
      time.now_text, 'job', e[1], 'level', e[2], 'class', e[4], 'entry', e[3])
  end
  for _, e in ipairs(cache.writes.records) do
    if not cache.writes.dels[e[1]] then
      redis.call('XADD', e[1], 'MAXLEN', '~', most_like(e[2], RECORD_LENGTH, RECORD_BYTES), '*', 'at',
        time.now_text, 'did', e[2], 'more', numbers.int(e[3]))
    end
  end
  for _, m in ipairs(cache.writes.messages) do redis.call('PUBLISH', m[1], m[2]) end
end

-- Deletes documents first, so that their memory is free even if Redis refuses a later command.
local function erase_documents(dels)
  for id in pairs(cache.dirty) do
    local key = redis_keys.job(id)
    if cache.docs[id] == false and cache.raw[key] then
      cache.raw[key] = false
      dels[#dels + 1] = key
    end
  end
  call_in_pieces('DEL', nil, dels)
  return {}
end

local function empty(map)
  for key in pairs(map) do map[key] = nil end
end

-- If Upstash refuses a command in the middle, the data stays usable: index entries are added first and removed last,
-- and readers skip and remove extra entries.
function store.write(more_to_come)
  for id in pairs(cache.dirty) do
    local doc = cache.docs[id]
    if doc and doc.quota_bytes then quota.follow(id, doc) end
    -- A terminated job repeats only after a run is requested.
    if doc and doc.repeats then
      cache.zset(ns .. 'repeats', id, doc.place ~= PLACE.terminated and (tonumber(doc.next_slot) or numbers.never))
    end
  end
  if outbox.entries[1] then outbox.flush() end
  if cache.raw[cache.schema_key] == false then
    cache.raw[cache.schema_key] = numbers.int(cache.SCHEMA)
    cache.set_text(cache.schema_key, cache.raw[cache.schema_key])
  end
  if next(readable.damaged) then aside.settle() end
  local leaving, dels = {}, keys_to_delete()
  if cache.makes_room then dels = erase_documents(dels) end
  grow_all(leaving)
  grow_lists()
  write_texts(more_to_come, dels)
  shrink(more_to_come, leaving, dels)
  flush_messages()
  cache.fields_read, tally.heads = {}, {}
  empty(cache.dirty)
  empty(leased.newly_lent)
  empty(cache.changed_pieces)
  if not more_to_come then empty(cache.queue_dirty) end
  for kind, of in pairs(cache.writes) do
    if next(of) then cache.writes[kind] = {} end
  end
end
