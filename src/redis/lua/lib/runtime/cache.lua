cache.raw = {} -- key → string as read, false when absent
cache.docs = {} -- id → document, false when the job is gone
cache.dirty = {}
cache.queues = {}
cache.queue_dirty = {}

cache.writes = { strings = {}, expiring = {}, expires = {}, trims = {}, dels = {}, zsets = {}, hashes = {}, sets = {},
  lists = {}, log = {}, messages = {}, records = {} }

-- Scripts that delete, end or repair jobs set this, so that they can write even if Redis is full.
cache.makes_room = false

-- A release that raises SCHEMA keeps OLDEST, because it must read the data of the previous release while both are
-- deployed.
cache.SCHEMA = 2
local OLDEST = 2
cache.schema_key = ns .. 'schema'

local function check_schema()
  local text = cache.raw[cache.schema_key]
  if not text or text == numbers.int(cache.SCHEMA) then return end
  local number = tonumber(text) or 0
  if number > cache.SCHEMA or number < OLDEST then
    error('SCHEMA ' .. text:sub(1, 10) .. ', expected ' .. OLDEST .. ' to ' .. cache.SCHEMA .. ';', 0)
  end
end

function cache.fetch(keys)
  local ask, n, known = {}, 0, cache.raw
  local is_unchecked = known[cache.schema_key] == nil
  for i = 1, #keys do
    local key = keys[i]
    if known[key] == nil then
      n = n + 1
      known[key], ask[n] = false, key
    end
  end
  for from = 1, n, 2400 do
    local got = redis.call('MGET', unpack(ask, from, math.min(from + 2399, n)))
    for i = 1, #got do known[ask[from + i - 1]] = got[i] end
  end
  if is_unchecked then check_schema() end
end

function cache.text_at(key)
  if cache.writes.strings[key] ~= nil then return cache.writes.strings[key] end
  if cache.raw[key] == nil then cache.fetch({ key }) end
  return cache.raw[key]
end

function cache.fetch_jobs(ids)
  local keys, others = {}, {}
  for i, id in ipairs(ids) do
    local number = pieces.number_in(id)
    keys[i] = number and redis_keys.piece(number) or redis_keys.job(id:find(':', 1, true) and id:match('%d+$') or id)
  end
  cache.fetch(keys)
  for i = 1, #ids do
    local number = cache.raw[keys[i]] == false and (pieces.place_of(ids[i]))
    if number then others[#others + 1] = redis_keys.piece(number) end
  end
  if others[1] then cache.fetch(others) end
end

function cache.fetch_limits(names)
  local keys = {}
  for i, name in ipairs(names) do keys[i] = redis_keys.limit(name) end
  cache.fetch(keys)
end

cache.attached = {}
local nothing_attached = {}

cache.pieces = {} -- number of a piece → the piece as it is now, or false if it does not exist
cache.changed_pieces = {}
cache.loose = {} -- id → true if this script has taken the job out of its piece

function cache.piece(number)
  if cache.pieces[number] == nil then
    local key = redis_keys.piece(number)
    local text = cache.text_at(key)
    local piece = text and pieces.read(text)
    cache.pieces[number] = piece and cache.common_of(piece) and piece or (text and readable.note(key, text))
  end
  return cache.pieces[number]
end

function cache.change_piece(number, piece, field, value)
  journal.put(piece, field, value)
  journal.put(cache.changed_pieces, number, true)
end

function cache.place_piece(number, piece, score)
  local q, place = cache.where(piece)
  cache.zset(redis_keys.queue(q, place), pieces.entry(number, piece), score or false)
  cache.count_packed(q, place, (score and 1 or -1) * (piece.n - 1))
  return q, place
end

function cache.piece_at(member)
  local number = pieces.number_in(member)
  return number and cache.piece(number), number
end

function cache.count_packed(q, place, n)
  local queue_record, letter = cache.queue(q), redis_keys.letters[place]
  local packed = journal.within(queue_record, queue_fields.packed)
  local left = (packed[letter] or 0) + n
  journal.put(packed, letter, left ~= 0 and left or nil)
  if queue_record.jobs_at then journal.put(queue_record.jobs_at, letter, (queue_record.jobs_at[letter] or 0) + n) end
  journal.put(cache.queue_dirty, q, true)
end

local function is_document(doc)
  return type(doc) == 'table' and type(doc.sequence) == 'string' and type(doc.queue) == 'string'
    and type(doc.class) == 'string'
end

function cache.common_of(piece)
  if piece.fields == nil then
    local ok, doc = pcall(cjson.decode, '{"n":"' .. piece.first .. '",' .. piece.common .. '}')
    piece.fields = ok and is_document(doc) and doc
  end
  return piece.fields
end

function cache.where(piece)
  local doc = cache.common_of(piece)
  return doc.queue, piece.state == '' and 'ready' or piece.state:sub(1, 7) == '"z":"l"' and 'leases' or 'completed'
end

-- Also takes a packed job out of its piece.
function cache.find(id)
  local doc = cache.docs[id]
  if doc == nil then
    local key = redis_keys.job(id)
    local text = cache.text_at(key)
    if not text then
      doc, text = cache.leave_piece(id)
      if not doc then return false end
      journal.put(cache.docs, id, doc)
      journal.put(cache.raw, key, text)
      journal.put(cache.dirty, id, true)
      journal.put(cache.loose, id, true)
      return doc
    end
    doc = readable.decode(text, key)
    if not is_document(doc) then doc = readable.note(key, text) end
    cache.docs[id] = doc
    if not doc then return false end
    if not (text:find('i:', 1, true) or text:find('o:', 1, true) or text:find('^', 1, true)) then
      cache.attached[id] = nothing_attached
    end
  end
  return doc
end

-- Returns '' if this script has created the job.
function cache.document(id) return cache.text_at(redis_keys.job(id)) or '' end

function cache.each(ids)
  cache.fetch_jobs(ids)
  local i, doc = 0, nil
  return function()
    repeat
      i = i + 1
      doc = ids[i] and cache.find(ids[i])
    until doc or not ids[i]
    return ids[i], doc
  end
end

function cache.add(id, doc)
  journal.put(cache.docs, id, doc)
  journal.put(cache.dirty, id, true)
  cache.raw[redis_keys.job(id)] = false
end

-- Fields with text from users always stay in the document, so a `^` in such a field is not the mark of a separate key.
local chosen = text_fields

function cache.is_beside(field, value) return value == '^' and not chosen[field] end

-- The list is cached, so it may contain removed fields.
function cache.attached_to(id, doc)
  if not cache.attached[id] then
    local found = {}
    for field, value in pairs(doc) do
      local side = field:sub(1, 2)
      if cache.is_beside(field, value) or side == 'i:' or side == 'o:' then found[#found + 1] = field end
    end
    journal.put(cache.attached, id, found)
  end
  return cache.attached[id]
end

function cache.need(id)
  local doc = cache.find(id)
  if not doc then cache.miss(id) end
  return doc
end

function cache.change(id, doc, field, value)
  if type(value) == 'number' then value = numbers.int(value) end
  if doc[field] == value then return end
  if field == fields.terminating and (value == nil or not doc[field]) then
    cache.note_ending(doc.queue, value and 1 or -1)
  end
  journal.put(doc, field, value)
  if not cache.dirty[id] then journal.put(cache.dirty, id, true) end
end

local kinds_of_queue = queue_kinds
local type_of_kind = kinds_of_fields

local function is_queue(record)
  for field, value in pairs(record) do
    local kind = kinds_of_queue[field]
    if kind and type(value) ~= type_of_kind[kind] then return false end
  end
  return record[queue_fields.lanes] and record[queue_fields.counts]
end

cache.first_times = { timers = queue_fields.next_timer, leases = queue_fields.next_lease,
  completed = queue_fields.next_removal, failed = queue_fields.next_removal, terminated = queue_fields.next_removal }

local function queue_in(q, text)
  local queue_record = readable.decode(text, redis_keys.queue(q)) or {}
  if is_queue(queue_record) then return queue_record end
  readable.note(redis_keys.queue(q), text)
  return cache.rebuilt_queue(q, text)
end

function cache.queue(q)
  local queue_record = cache.queues[q]
  if not queue_record then
    local text = cache.text_at(redis_keys.queue(q))
    queue_record = text and queue_in(q, text) or { lanes = {}, counts = {}, jobs_at = {} }
    cache.queues[q] = queue_record
  end
  return queue_record
end

function cache.change_queue(q, field, value)
  journal.put(cache.queue(q), field, value)
  journal.put(cache.queue_dirty, q, true)
end

function cache.soonest(q, field, moment)
  if moment < (cache.queue(q)[field] or numbers.never) then cache.change_queue(q, field, moment) end
end

function cache.zset(key, member, score)
  local members = cache.writes.zsets[key]
  -- The table is created with its first member, because some Lua engines allocate 32 members for an empty table.
  if members then
    journal.put(members, member, score)
  else
    journal.put(cache.writes.zsets, key, { [member] = score })
  end
end
function cache.set_text(key, text) journal.put(cache.writes.strings, key, text) end

function cache.publish(channel, message) journal.push(cache.writes.messages, { ns .. channel, message }) end

function cache.set_expiring(key, text, ms)
  journal.put(cache.writes.expiring, key, { text, ms })
  journal.put(cache.raw, key, text)
end

cache.fields_read = {} -- key → field → value as read, false if absent

function cache.take_out(number, piece, at)
  cache.change_piece(number, piece, 'mask', piece.mask:sub(1, at - 1) .. '0' .. piece.mask:sub(at + 1))
  cache.change_piece(number, piece, 'n', piece.n - 1)
end

function cache.leave_piece(id)
  local number, at = pieces.place_of(id)
  local piece = number and cache.piece(number)
  if not piece or not pieces.has(piece, at) then return false, '' end
  local key, q, place = redis_keys.piece(number), cache.where(piece)
  local text = pieces.document(piece, id, at) or ''
  local doc = readable.decode(text, key)
  if not is_document(doc) then return readable.note(key, cache.raw[key] or ''), '' end
  cache.take_out(number, piece, at)
  if piece.n > 0 then
    cache.count_packed(q, place, -1)
  else
    cache.zset(redis_keys.queue(q, place), pieces.entry(number, piece), false)
  end
  return doc, text
end

function cache.miss(id)
  local number = pieces.place_of(id) or ''
  if readable.damaged[redis_keys.job(id)] or readable.damaged[redis_keys.piece(number)] then
    journal.refuse('UNREADABLE',
      'the record of job ' .. id .. ' is damaged: run `sidejob doctor --repair --yes`, or delete the job with force')
  end
  journal.refuse('NOT_FOUND', 'job ' .. id .. ' does not exist')
end

function cache.count(id, doc, field) cache.change(id, doc, field, (tonumber(doc[field]) or 0) + 1) end

function cache.clear(id, doc, names)
  for i = 1, #names do
    if doc[names[i]] then cache.change(id, doc, names[i], nil) end
  end
end

function cache.note_ending(q, n)
  cache.change_queue(q, queue_fields.ending, math.max(0, (cache.queue(q).ending or 0) + n))
end

-- Redis returns an infinite score as `inf`, which some Lua engines cannot read as a number.
function cache.first_moment(q, place)
  return tonumber(redis.call('ZRANGE', redis_keys.queue(q, place), 0, 0, 'WITHSCORES')[2] or '') or numbers.never
end

function cache.rebuilt_queue(q, text)
  local queue_record = { lanes = {}, counts = {}, paused = text:find('"paused":true', 1, true) and true or nil }
  local function soonest(field, moment)
    if moment < numbers.never then queue_record[field] = math.min(queue_record[field] or numbers.never, moment) end
  end
  for place, field in pairs(cache.first_times) do soonest(field, cache.first_moment(q, place)) end
  for id, till in (text:match('"' .. queue_fields.leased .. '":(%b{})') or ''):gmatch('"(%d+)":(%d+)') do
    journal.within(queue_record, queue_fields.leased)[id] = tonumber(till)
    soonest(queue_fields.next_lease, tonumber(till))
  end
  local definitions = redis.call('HGETALL', ns .. 'workers:' .. q)
  for i = 1, #definitions, 2 do
    for field, mark in pairs({ pulled_classes = '"pull":true', bounded_classes = '"concurrency":' }) do
      if definitions[i + 1]:find(mark, 1, true) then
        journal.within(queue_record, field)[definitions[i]] = true
      end
    end
  end
  if not queue_record.pulled_classes and redis.call('ZCARD', redis_keys.queue(q, 'ready:pull')) > 0 then
    queue_record.mode = 'pull'
  end
  return queue_record
end

function cache.hset(key, field, value) journal.put(journal.within(cache.writes.hashes, key), field, value) end
function cache.sset(key, member, present) journal.put(journal.within(cache.writes.sets, key), member, present) end

function cache.del(key) journal.put(cache.writes.dels, key, true) end

function cache.drop(key)
  for _, kind in ipairs({ 'strings', 'hashes', 'sets', 'lists' }) do
    if cache.writes[kind][key] ~= nil then journal.put(cache.writes[kind], key, nil) end
  end
  cache.del(key)
end

function cache.replace_text(key, text)
  cache.set_text(key, text or nil)
  journal.put(cache.writes.dels, key, not text or nil)
  if not text then journal.put(cache.raw, key, false) end
end

function cache.next_moment(key, after)
  local row = redis.call('ZRANGEBYSCORE', key, '(' .. numbers.int(after), '+inf', 'LIMIT', 0, 1, 'WITHSCORES')
  local moment = tonumber(row[2] or '') or numbers.never
  for _, score in pairs(cache.writes.zsets[key] or {}) do moment = math.min(moment, score or numbers.never) end
  return moment
end

function cache.hash(key)
  local flat = redis.call('HGETALL', key)
  local map = {}
  for i = 1, #flat, 2 do map[flat[i]] = flat[i + 1] end
  if cache.writes.dels[key] then map = {} end
  for field, value in pairs(cache.writes.hashes[key] or {}) do map[field] = value or nil end
  return map
end
local empty = { __index = function() return false end }
function cache.hash_is_empty(key) cache.fields_read[key] = setmetatable({}, empty) end

function cache.hfetch(key, names)
  local known, ask = cache.fields_read[key] or {}, {}
  cache.fields_read[key] = known
  for _, field in ipairs(names) do
    if known[field] == nil then ask[#ask + 1] = field end
  end
  for from = 1, #ask, 2400 do
    local got = redis.call('HMGET', key, unpack(ask, from, math.min(from + 2399, #ask)))
    for i = 1, #got do known[ask[from + i - 1]] = got[i] end
  end
end

function cache.hget(key, field)
  local waiting = cache.writes.hashes[key]
  if waiting and waiting[field] ~= nil then return waiting[field] end
  if cache.writes.dels[key] then return false end
  cache.hfetch(key, { field })
  return cache.fields_read[key][field]
end
