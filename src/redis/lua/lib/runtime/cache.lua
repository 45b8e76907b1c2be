-- What a script has read, each key once, as it is now and as it will be: documents of jobs, records of queues, texts, hashes.

local cache = {}

local journal = require 'runtime/journal'
local numbers = require 'runtime/numbers'
local redis_keys = require 'runtime/redis_keys'
local put, refuse, within = journal.put, journal.refuse, journal.within
local int, never = numbers.int, numbers.never
local key_of, queue_key = redis_keys.key_of, redis_keys.queue_key

cache.raw = {} -- key → text as read, false when absent
cache.docs = {} -- id → document, false when the job is gone
cache.dirty = {}
cache.queues = {}
cache.queue_dirty = {}

-- `texts` (key, text, …) and `rows` (of each index: score, member, …) are written too, but not found again before that.
function cache.no_writes()
  return { texts = {}, rows = {}, strings = {}, expiring = {}, expires = {}, trims = {}, dels = {}, zsets = {}, hashes = {}, sets = {}, lists = {}, log = {}, messages = {}, records = {} }
end

cache.writes = cache.no_writes()

-- The schema that this version writes. It reads that and the one before it. Data that say nothing are of before there were
-- schemas, if there are any; while they are brought over (see lib/limit/former.lua) they say `0,since,cursor`.
cache.SCHEMA = 1
cache.schema_key = ns .. 'schema'
local function schema_number() return cache.raw[cache.schema_key] and tonumber((cache.raw[cache.schema_key]:match('^%d+'))) end
function cache.is_brought_over() return cache.raw[cache.schema_key] == nil or schema_number() == cache.SCHEMA end

-- A text, not a refusal: every engine of Lua hands on the words of an error, and nothing has been written yet.
local function check_schema()
  local number = schema_number()
  if number and (number > cache.SCHEMA or number < cache.SCHEMA - 1) then
    error('SCHEMA the data are of schema ' .. int(number) .. ', and this version reads ' .. cache.SCHEMA .. ' and the one before it;', 0)
  end
end

function cache.fetch(keys)
  local ask, asks_schema = {}, false
  for _, key in ipairs(keys) do
    if cache.raw[key] == nil then
      cache.raw[key] = false
      ask[#ask + 1] = key
      if key == cache.schema_key then asks_schema = true end
    end
  end
  for from = 1, #ask, 2400 do
    local got = redis.call('MGET', unpack(ask, from, math.min(from + 2399, #ask)))
    for i = 1, #got do cache.raw[ask[from + i - 1]] = got[i] end
  end
  if asks_schema then check_schema() end
end

function cache.text_at(key)
  if cache.writes.strings[key] ~= nil then return cache.writes.strings[key] end
  if cache.raw[key] == nil then cache.fetch({ key }) end
  return cache.raw[key]
end

function cache.fetch_jobs(ids)
  local keys = {}
  for i, id in ipairs(ids) do keys[i] = key_of(id) end
  cache.fetch(keys)
end

cache.attached = {} -- id → fields, see attached_to
local nothing_attached = {}

-- The document of a job, or false.
function cache.find(id)
  local doc = cache.docs[id]
  if doc == nil then
    local text = cache.text_at(key_of(id))
    doc = text and cjson.decode(text)
    cache.docs[id] = doc
    if cache.writes.strings[key_of(id)] then
      put(cache.writes.strings, key_of(id), nil)
      put(cache.dirty, id, true)
    end
    -- Not '"i:': looking for a character that is everywhere is slow.
    if text and not (text:find('i:', 1, true) or text:find('o:', 1, true) or text:find('^', 1, true)) then cache.attached[id] = nothing_attached end
  end
  return doc
end

-- The fields of a document that something else hangs on: ports (`i:<port>`, `o:<port>`) and values beside it (`^`).
-- Most jobs have none, which their text tells without a walk. A field that has gone may still be named.
function cache.attached_to(id, doc)
  if not cache.attached[id] then
    local found = {}
    for field, value in pairs(doc) do
      if value == '^' or field:find('^[io]:') then found[#found + 1] = field end
    end
    put(cache.attached, id, found)
  end
  return cache.attached[id]
end

-- Jobs that were made unseen (see lib/fast/bulk.lua) stand among the others from now on.
local function see_all()
  local texts, rows = cache.writes.texts, cache.writes.rows
  cache.writes.texts, cache.writes.rows = {}, {}
  for i = 1, #texts, 2 do cache.writes.strings[texts[i]] = texts[i + 1] end
  for key, list in pairs(rows) do
    local members = cache.writes.zsets[key] or {}
    cache.writes.zsets[key] = members
    for i = 1, #list, 2 do members[list[i + 1]] = tonumber(list[i]) end
  end
end

function cache.need(id)
  local doc = cache.find(id)
  if not doc and cache.writes.texts[1] then
    see_all()
    cache.docs[id] = nil
    doc = cache.find(id)
  end
  if not doc then refuse('NOT_FOUND', 'job ' .. id .. ' does not exist') end
  return doc
end

function cache.change(id, doc, field, value)
  if doc[field] == value then return end
  if field == fields.terminating and (value == nil or not doc[field]) then cache.note_ending(doc.queue, value and 1 or -1) end
  put(doc, field, value)
  if not cache.dirty[id] then put(cache.dirty, id, true) end
end

-- How many jobs of a queue are asked to terminate and have not ended.
function cache.note_ending(q, n) cache.change_queue(q, queue_fields.ending, math.max(0, (cache.queue(q).ending or 0) + n)) end

-- A queue's document begins with a space as long as who writes it counts its jobs: an older version takes it away.
cache.COUNTED = ' '

function cache.queue(q)
  local queue_record = cache.queues[q]
  if not queue_record then
    local text = cache.text_at(queue_key(q))
    queue_record = text and cjson.decode(text) or queue_fields { lanes = {}, counts = {}, jobs_at = {} }
    if text and text:sub(1, 1) ~= cache.COUNTED then queue_record.jobs_at = nil end
    cache.queues[q] = queue_record
  end
  return queue_record
end

function cache.change_queue(q, field, value)
  put(cache.queue(q), field, value)
  put(cache.queue_dirty, q, true)
end

function cache.zset(key, member, score)
  local members = cache.writes.zsets[key]
  if not members then
    members = {}
    put(cache.writes.zsets, key, members)
  end
  put(members, member, score)
end

function cache.hset(key, field, value) put(within(cache.writes.hashes, key), field, value) end
function cache.sset(key, member, present) put(within(cache.writes.sets, key), member, present) end
function cache.set_text(key, text) put(cache.writes.strings, key, text) end

function cache.set_expiring(key, text, ms)
  put(cache.writes.expiring, key, { text, ms })
  put(cache.raw, key, text)
end

function cache.del(key) put(cache.writes.dels, key, true) end

-- A text in the place of another, or of none; false takes it away.
function cache.replace_text(key, text)
  cache.set_text(key, text or nil)
  put(cache.writes.dels, key, not text or nil)
  if not text then put(cache.raw, key, false) end
end

-- The earliest moment that this script has put into an index and not written yet.
function cache.pending_moment(key)
  local moment = never
  for _, score in pairs(cache.writes.zsets[key] or {}) do moment = math.min(moment, score or never) end
  return moment
end

-- A hash as it will be: field → value.
function cache.hash(key)
  local flat = redis.call('HGETALL', key)
  local map = {}
  for i = 1, #flat, 2 do map[flat[i]] = flat[i + 1] end
  if cache.writes.dels[key] then map = {} end
  for field, value in pairs(cache.writes.hashes[key] or {}) do map[field] = value or nil end
  return map
end

cache.fields_read = {} -- key → field → value as read, false when absent
local empty = { __index = function() return false end }
function cache.hash_is_empty(key) cache.fields_read[key] = setmetatable({}, empty) end

-- Fields that will be wanted, in as few commands as there are pieces of them.
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

return cache
