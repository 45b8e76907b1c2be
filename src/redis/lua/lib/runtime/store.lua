-- What the script has read and what it will write. Everything is asked through here and written once, by `flush`, so
-- a refusal leaves nothing half-done and a batch costs as many commands as one job.

local raw = {} -- key → text as read, false when absent
local docs, dirty = {}, {} -- id → document, false when the job is gone
local queues, queue_dirty = {}, {}
-- `texts` (key, text, …) and `rows` (of each index: score, member, …) are written too, but not found again before that.
local function no_writes()
  return { texts = {}, rows = {}, strings = {}, expiring = {}, expires = {}, trims = {}, dels = {}, zsets = {}, hashes = {}, sets = {}, lists = {}, log = {}, messages = {} }
end
local writes = no_writes()

local job_keys = {}
local function key_of(id)
  local key = job_keys[id]
  if not key then
    key = ns .. 'job:' .. id
    job_keys[id] = key
  end
  return key
end
local function side_key(id, name) return ns .. 'job:' .. id .. ':' .. name end
local queue_keys = {} -- place → queue → key, because every job asks for several
local tally = { of = {}, heads = {} } -- `of`: the key of an index that is counted → its queue and place
tally.places = { ['ready'] = 'r', ['ready:pull'] = 'p', ['timers'] = 't', ['leases'] = 'l', ['suspended'] = 's', ['completed'] = 'c', ['failed'] = 'f', ['terminated'] = 'T' }
local function queue_key(q, place)
  local known = queue_keys[place or '']
  if not known then
    known = {}
    queue_keys[place or ''] = known
  end
  if not known[q] then
    known[q] = ns .. 'queue:' .. q .. (place and ':' .. place or '')
    if tally.places[place] then tally.of[known[q]] = { q, place } end
  end
  return known[q]
end

-- Variadic calls in pieces: unpack fails near 8,000 in Redis' Lua, near 5,000 in others. A thousand pairs are one piece.
-- Answers the sum of what they answer, where that is a number.
local function call_in_pieces(command, key, args)
  local sum, answer = 0, nil
  for from = 1, #args, 2400 do
    local to = math.min(from + 2399, #args)
    if key then answer = redis.call(command, key, unpack(args, from, to)) else answer = redis.call(command, unpack(args, from, to)) end
    sum = sum + (tonumber(answer) or 0)
  end
  return sum
end

-- The schema that this version writes. It reads that and the one before it. Data that say nothing are of before there were
-- schemas, if there are any; while they are brought over (see lib/limit/limits.lua) they say `0,since,cursor`.
local SCHEMA = 1
local schema_key = ns .. 'schema'
local function schema_number() return raw[schema_key] and tonumber((raw[schema_key]:match('^%d+'))) end
local function is_brought_over() return raw[schema_key] == nil or schema_number() == SCHEMA end

-- A text, not a refusal: every engine of Lua hands on the words of an error, and nothing has been written yet.
local function check_schema()
  local number = schema_number()
  if number and (number > SCHEMA or number < SCHEMA - 1) then
    error('SCHEMA the data are of schema ' .. int(number) .. ', and this version reads ' .. SCHEMA .. ' and the one before it;', 0)
  end
end

local function fetch(keys)
  local ask, asks_schema = {}, false
  for _, key in ipairs(keys) do
    if raw[key] == nil then
      raw[key] = false
      ask[#ask + 1] = key
      if key == schema_key then asks_schema = true end
    end
  end
  for from = 1, #ask, 2400 do
    local got = redis.call('MGET', unpack(ask, from, math.min(from + 2399, #ask)))
    for i = 1, #got do raw[ask[from + i - 1]] = got[i] end
  end
  if asks_schema then check_schema() end
end

local function text_at(key)
  if writes.strings[key] ~= nil then return writes.strings[key] end
  if raw[key] == nil then fetch({ key }) end
  return raw[key]
end

local function fetch_jobs(ids)
  local keys = {}
  for i, id in ipairs(ids) do keys[i] = key_of(id) end
  fetch(keys)
end

local attached = {} -- id → fields, see attached_to
local nothing_attached = {}

-- The document of a job, or false.
local function find(id)
  local doc = docs[id]
  if doc == nil then
    local text = text_at(key_of(id))
    doc = text and cjson.decode(text)
    docs[id] = doc
    if writes.strings[key_of(id)] then
      put(writes.strings, key_of(id), nil)
      put(dirty, id, true)
    end
    -- Not '"i:': looking for a character that is everywhere is slow.
    if text and not (text:find('i:', 1, true) or text:find('o:', 1, true) or text:find('^', 1, true)) then attached[id] = nothing_attached end
  end
  return doc
end

-- The fields of a document that something else hangs on: ports (`i:<port>`, `o:<port>`) and values beside it (`^`).
-- Most jobs have none, which their text tells without a walk. A field that has gone may still be named.
local function attached_to(id, doc)
  if not attached[id] then
    local found = {}
    for field, value in pairs(doc) do
      if value == '^' or field:find('^[io]:') then found[#found + 1] = field end
    end
    put(attached, id, found)
  end
  return attached[id]
end

-- Jobs that were made unseen (see lib/fast/bulk.lua) stand among the others from now on.
local function see_all()
  local texts, rows = writes.texts, writes.rows
  writes.texts, writes.rows = {}, {}
  for i = 1, #texts, 2 do writes.strings[texts[i]] = texts[i + 1] end
  for key, list in pairs(rows) do
    local members = writes.zsets[key] or {}
    writes.zsets[key] = members
    for i = 1, #list, 2 do members[list[i + 1]] = tonumber(list[i]) end
  end
end

local function need(id)
  local doc = find(id)
  if not doc and writes.texts[1] then
    see_all()
    docs[id] = nil
    doc = find(id)
  end
  if not doc then refuse('NOT_FOUND', 'job ' .. id .. ' does not exist') end
  return doc
end

local function change(id, doc, field, value)
  if doc[field] == value then return end
  if field == fields.terminating and (value == nil or not doc[field]) then tally.ending(doc.queue, value and 1 or -1) end
  put(doc, field, value)
  if not dirty[id] then put(dirty, id, true) end
end

-- A queue's document begins with a space as long as who writes it counts its jobs: an older version takes it away.
local COUNTED = ' '
local function queue(q)
  local queue_record = queues[q]
  if not queue_record then
    local text = text_at(queue_key(q))
    queue_record = text and cjson.decode(text) or queue_fields { lanes = {}, counts = {}, jobs_at = {} }
    if text and text:sub(1, 1) ~= COUNTED then queue_record.jobs_at = nil end
    queues[q] = queue_record
  end
  return queue_record
end

local function change_queue(q, field, value)
  put(queue(q), field, value)
  put(queue_dirty, q, true)
end

-- How many jobs of a queue are asked to terminate and have not ended.
function tally.ending(q, n) change_queue(q, queue_fields.ending, math.max(0, (queue(q).ending or 0) + n)) end

local function within(map, key)
  if not map[key] then put(map, key, {}) end
  return map[key]
end
local function zset(key, member, score)
  local members = writes.zsets[key]
  if not members then
    members = {}
    put(writes.zsets, key, members)
  end
  put(members, member, score)
end
local function hset(key, field, value) put(within(writes.hashes, key), field, value) end
local function sset(key, member, present) put(within(writes.sets, key), member, present) end
local function set_text(key, text) put(writes.strings, key, text) end
local function set_expiring(key, text, ms)
  put(writes.expiring, key, { text, ms })
  put(raw, key, text)
end
local function del(key) put(writes.dels, key, true) end
-- A text in the place of another, or of none; false takes it away.
local function replace_text(key, text)
  set_text(key, text or nil)
  put(writes.dels, key, not text or nil)
  if not text then put(raw, key, false) end
end

-- The earliest moment that this script has put into an index and not written yet.
local function pending_moment(key)
  local moment = never
  for _, score in pairs(writes.zsets[key] or {}) do moment = math.min(moment, score or never) end
  return moment
end

-- A hash as it will be: field → value.
local function hash(key)
  local flat = redis.call('HGETALL', key)
  local map = {}
  for i = 1, #flat, 2 do map[flat[i]] = flat[i + 1] end
  if writes.dels[key] then map = {} end
  for field, value in pairs(writes.hashes[key] or {}) do map[field] = value or nil end
  return map
end

local fields_read = {} -- key → field → value as read, false when absent
local empty = { __index = function() return false end }
local function hash_is_empty(key) fields_read[key] = setmetatable({}, empty) end

-- Fields that will be wanted, in as few commands as there are pieces of them.
local function hfetch(key, names)
  local known, ask = fields_read[key] or {}, {}
  fields_read[key] = known
  for _, field in ipairs(names) do
    if known[field] == nil then ask[#ask + 1] = field end
  end
  for from = 1, #ask, 2400 do
    local got = redis.call('HMGET', key, unpack(ask, from, math.min(from + 2399, #ask)))
    for i = 1, #got do known[ask[from + i - 1]] = got[i] end
  end
end

local function hget(key, field)
  local waiting = writes.hashes[key]
  if waiting and waiting[field] ~= nil then return waiting[field] end
  if writes.dels[key] then return false end
  hfetch(key, { field })
  return fields_read[key][field]
end

-- New data are of our schema from the first write on, others when the tick has brought them over: it comes as long as
-- whoever writes here asks for it, for a former version's tick forgets what it does not know.
local function say_schema()
  if raw[schema_key] == false then
    local id_key = ns .. 'jobs:last_id'
    if raw[id_key] == nil then fetch({ id_key }) end
    set_text(schema_key, raw[id_key] and '0,' .. now_text .. ',0' or int(SCHEMA))
    raw[schema_key] = writes.strings[schema_key]
  end
  if not is_brought_over() then zset(ns .. 'wake', 'u:schema', now) end
end

-- Jobs are counted in their queue's document as they come into its indexes and leave them, so that a look at all queues
-- is one MGET. A queue that an older version has written is counted when it is next written.
tally.fronts = { ['ready'] = queue_fields.first_ready, ['ready:pull'] = queue_fields.first_pull }
function tally.look(q, queue_record, place)
  local n = redis.call('ZCARD', queue_key(q, place))
  queue_record.jobs_at[tally.places[place]] = n > 0 and n or nil
  local first = n > 0 and tally.fronts[place] and redis.call('ZRANGE', queue_key(q, place), 0, 0)[1]
  if tally.fronts[place] then queue_record[tally.fronts[place]] = first and first:sub(1, 13) or nil end
end
function tally.look_at_all(q, queue_record)
  queue_record.jobs_at = {}
  for place in pairs(tally.places) do tally.look(q, queue_record, place) end
end

-- The document as it is written: what has never been counted is not said to be.
function tally.text(q) return (queues[q][queue_fields.jobs_at] and COUNTED or '') .. cjson.encode(queues[q]) end

function tally.add(queue_record, place, n)
  local letter = tally.places[place]
  local sum = (queue_record.jobs_at[letter] or 0) + n
  queue_record.jobs_at[letter] = sum ~= 0 and sum or nil
  return sum
end

-- The sequence of the first that is left in an index: of those that a claim has read, else of those that are there.
function tally.first_left(key, gone)
  local is_gone = {}
  for _, member in ipairs(gone) do is_gone[member] = true end
  local function first_of(members)
    for _, member in ipairs(members) do
      if not is_gone[member] then return member:sub(1, 13) end
    end
  end
  return first_of(tally.heads[key] or {}) or first_of(redis.call('ZRANGE', key, 0, #gone))
end

-- The sequence of the job in front, when there are n. Jobs that were made together stand in the order of their making.
function tally.front_of(front, n, key, gone, kept, made_together)
  for i = 1, front and #gone or 0 do
    if front == gone[i]:sub(1, 13) then front = nil break end
  end
  if not front and n > #kept / 2 then front = tally.first_left(key, gone) end
  for i = 2, #kept, 2 do
    if i == 2 or i > made_together then
      local since = kept[i]:sub(1, 13)
      if not front or since < front then front = since end
    end
  end
  return front
end

-- A record holds 100 MB at the vendor, and an entry of an index takes 104 bytes: of each kind of end a queue keeps so many
-- jobs, whatever their retention. The tick removes those early that would have gone first.
local MOST_KEPT = 500000
tally.ended = { ['completed'] = true, ['failed'] = true, ['terminated'] = true }
function tally.over(queue_record, place) return (queue_record.jobs_at and queue_record.jobs_at[tally.places[place]] or 0) - MOST_KEPT end

-- What came into an index of a queue, and what is about to leave it.
function tally.note(key, gone, kept, added, made_together)
  local q, place = tally.of[key][1], tally.of[key][2]
  local queue_record, field = queue(q), tally.fronts[place]
  if not queue_record.jobs_at then
    tally.look_at_all(q, queue_record)
    added = 0
    queue_dirty[q] = true
  end
  local n = tally.add(queue_record, place, added - #gone)
  if tally.ended[place] and tally.over(queue_record, place) > 0 and (queue_record.next_removal or never) > now then change_queue(q, queue_fields.next_removal, now) end
  if added ~= #gone then queue_dirty[q] = true end
  local front = field and tally.front_of(queue_record[field], n, key, gone, kept, made_together)
  if field and front ~= queue_record[field] then
    queue_record[field] = front
    queue_dirty[q] = true
  end
end

-- What goes as a whole. Nothing is taken out of it before; where something is written anew, it has to go first.
local function keys_to_delete()
  local dels, first = {}, {}
  for key in pairs(writes.dels) do
    local is_anew = writes.lists[key] and writes.lists[key].push[1]
    for _, kind in ipairs({ 'zsets', 'hashes', 'sets' }) do
      local grows = false
      for _, value in pairs(writes[kind][key] or {}) do grows = grows or value end
      if not grows then writes[kind][key] = nil end
      is_anew = is_anew or grows
    end
    local list = is_anew and first or dels
    if not writes.strings[key] and not writes.expiring[key] then list[#list + 1] = key end
  end
  call_in_pieces('DEL', nil, first)
  for key, list in pairs(writes.lists) do
    if list.pop > 0 and list.pop == list.had and not list.push[1] then dels[#dels + 1] = key end
  end
  return dels
end

-- Members by whether they stay: { key, those that go, score and member of those that stay }.
local function split(key, members, kept)
  local gone = {}
  for member, score in pairs(members) do
    if score then
      kept[#kept + 1] = score == never and '+inf' or int(score)
      kept[#kept + 1] = member
    else
      gone[#gone + 1] = member
    end
  end
  return gone
end

local function grow_indexes(leaving)
  for key in pairs(writes.rows) do within(writes.zsets, key) end
  for key, members in pairs(writes.zsets) do
    local kept = writes.rows[key] or {}
    local rows = #kept
    local gone = split(key, members, kept)
    local added = call_in_pieces('ZADD', key, kept)
    if #gone > 0 then leaving[#leaving + 1] = { 'ZREM', key, gone } end
    if tally.of[key] then tally.note(key, gone, kept, added, rows) end
  end
end

local function grow_sets(leaving)
  for key, members in pairs(writes.sets) do
    local gone, kept = {}, {}
    for member, present in pairs(members) do
      if present then kept[#kept + 1] = member else gone[#gone + 1] = member end
    end
    call_in_pieces('SADD', key, kept)
    if #gone > 0 then leaving[#leaving + 1] = { 'SREM', key, gone } end
  end
  for key, fields in pairs(writes.hashes) do
    local gone, kept = {}, {}
    for field, value in pairs(fields) do
      if value then
        kept[#kept + 1] = field
        kept[#kept + 1] = value
      else
        gone[#gone + 1] = field
      end
    end
    call_in_pieces('HSET', key, kept)
    if #gone > 0 then leaving[#leaving + 1] = { 'HDEL', key, gone } end
  end
end

-- Values are found by how many there are: one too many would be taken for another. What was pushed is taken back when the
-- documents that count it cannot follow.
local pushed = {}
local function undo_pushes(why)
  for _, one in ipairs(pushed) do redis.call('LTRIM', one.key, 0, -1 - one.n) end
  error(why, 0)
end
local function grow_lists()
  pushed = {}
  for key, list in pairs(writes.lists) do
    for from = 1, #list.push, 2400 do
      local to = math.min(from + 2399, #list.push)
      local ok, why = pcall(redis.call, 'RPUSH', key, unpack(list.push, from, to))
      if not ok then undo_pushes(why) end
      pushed[#pushed + 1] = { key = key, n = to - from + 1 }
    end
  end
end

local function write_texts(more_to_come, dels)
  local sets = writes.texts
  for key, text in pairs(writes.strings) do
    raw[key] = text
    sets[#sets + 1] = key
    sets[#sets + 1] = text
  end
  for id in pairs(dirty) do
    local key, doc = key_of(id), docs[id]
    if doc then
      local text = cjson.encode(doc)
      raw[key] = text
      sets[#sets + 1] = key
      sets[#sets + 1] = text
    else
      raw[key] = false
      dels[#dels + 1] = key
    end
  end
  for q in pairs(more_to_come and {} or queue_dirty) do
    sets[#sets + 1] = queue_key(q)
    sets[#sets + 1] = tally.text(q)
  end
  local ok, why = pcall(call_in_pieces, 'MSET', nil, sets)
  if not ok then undo_pushes(why) end
end

-- What leaves an index may not have been there, or never been counted: then it is counted anew, and written once more.
local function shrink(more_to_come, leaving, dels)
  local miscounted = {}
  for _, one in ipairs(leaving) do
    local of, left = tally.of[one[2]], call_in_pieces(one[1], one[2], one[3])
    if of and (left < #one[3] or tally.add(queues[of[1]], of[2], 0) < 0) then
      tally.look(of[1], queues[of[1]], of[2])
      miscounted[of[1]] = true
    end
  end
  for key, list in pairs(writes.lists) do
    if list.pop > 0 and (list.pop < list.had or list.push[1]) then redis.call('LTRIM', key, list.pop, -1) end
  end
  call_in_pieces('DEL', nil, dels)
  for key, e in pairs(writes.expiring) do redis.call('SET', key, e[1], 'PX', int(e[2])) end
  for q in pairs(miscounted) do queue_dirty[q] = true end
  for q in pairs(more_to_come and {} or miscounted) do redis.call('SET', queue_key(q), tally.text(q)) end
  for key, before in pairs(writes.trims) do redis.call('ZREMRANGEBYSCORE', key, '-inf', int(before)) end
  for key, ms in pairs(writes.expires) do redis.call('PEXPIRE', key, int(ms)) end
end

-- A record holds 100 MB at the vendor: an entry trims the log to as many of its own size as fill 20 MB, at most 10,000.
-- Whatever order sizes come in, the k-th largest of those that stay is below 20 MB / k, and none is above 16 KB: 61 MB, 77 as Redis keeps them.
local LOG_LENGTH, LOG_BYTES = 10000, 20971520
local function flush_messages()
  for _, e in ipairs(writes.log) do
    local most = math.max(1, math.min(LOG_LENGTH, math.floor(LOG_BYTES / #e[3])))
    redis.call('XADD', ns .. 'log', 'MAXLEN', '~', most, '*', 'at', int(now), 'job', e[1], 'level', e[2], 'entry', e[3])
  end
  for _, m in ipairs(writes.messages) do redis.call('PUBLISH', m[1], m[2]) end
end

local consequences, before_flush = {}, {}

-- What follows from what was done: who is woken by it, who hears of it, until nothing does any more. Queues can only be
-- rung for after this. A step answers whether it did something.
local function conclude()
  repeat
    local more = false
    for _, step in ipairs(consequences) do more = step() or more end
  until not more
end

-- Writes everything, in as few commands as there are kinds of keys; what was read stays known. With `more_to_come`
-- the queues' documents wait for the second flush.
--
-- The order is one in which a refusal in the middle does no harm. First comes what makes records larger, which the vendor
-- may refuse: an entry too many is passed over, and taken out, by whoever meets it in an index. Then the documents, which
-- say what is true, and at last what takes away.
local function flush(more_to_come)
  conclude()
  for _, step in ipairs(before_flush) do step(more_to_come) end
  for id in pairs(dirty) do
    local doc = docs[id]
    if doc and doc.quota_bytes then quota.follow(id, doc) end
    if doc and doc.repeats then zset(ns .. 'repeats', id, tonumber(doc.next_slot) or never) end
  end
  say_schema()
  local leaving, dels = {}, keys_to_delete()
  grow_indexes(leaving)
  grow_sets(leaving)
  grow_lists()
  write_texts(more_to_come, dels)
  shrink(more_to_come, leaving, dels)
  flush_messages()
  dirty, fields_read, tally.heads = {}, {}, {}
  if not more_to_come then queue_dirty = {} end
  writes = no_writes()
end
