local MAX_ENTRY = 16384

local function waiting(count)
  local pushed, taken = (count or '0,0'):match('^(%d+),(%d+)')
  return numbers.int(pushed - taken)
end

local function add(entry, ...)
  local words = { ... }
  entry.bytes = (entry.bytes or 0) + tables.bytes(words) + 3 * #words
  if entry.bytes > MAX_ENTRY then
    entry.more = (entry.more or 0) + 1
    return
  end
  entry.words = entry.words or {}
  for _, word in ipairs(words) do journal.push(entry.words, word) end
end

local function note_job(entry, name, id, doc)
  local text = cache.raw[redis_keys.job(id)]
  local was_doc = text and readable.decode(text, redis_keys.job(id)) or {}
  local was, is = text and states.of(was_doc) or '', states.of(doc)
  local last = doc.last_run ~= was_doc.last_run and doc.last_run or ''
  if was ~= is or last ~= '' then add(entry, 's', name, id, was, is, last) end
  for field, count in pairs(doc) do
    local dir, port = field:match('^([io]):(.+)$')
    if dir and waiting(count) ~= waiting(was_doc[field]) then
      add(entry, 'p', name, dir, port, waiting(was_doc[field]), waiting(count))
    end
  end
end

local entries = {} -- id of a flow → its events in this script

function record.note(more_to_come)
  for id in pairs(cache.dirty) do
    local doc = cache.docs[id]
    local above_doc = doc and doc.followed_as and cache.docs[doc.parent]
    if above_doc and above_doc.recorded then note_job(journal.within(entries, doc.parent), doc.child_name, id, doc) end
    if doc and doc.recorded then note_job(journal.within(entries, id), '', id, doc) end
  end
  for id, entry in pairs(more_to_come and {} or entries) do
    if entry.words and cache.docs[id] then
      journal.push(cache.writes.records, { redis_keys.side(id, 'record'), cjson.encode(entry.words), entry.more or 0 })
    end
  end
end
