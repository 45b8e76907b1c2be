-- TypeScript computes the kind, a hash, for the commit that fails a job. For other failures, the kind is empty until
-- engine/api/errors.ts computes it.

-- 100 kinds take less than 100 KB. The string starts with `+` if a kind was dropped.
local MOST = 100
-- In minutes. Counts by minute are kept for half an hour, and counts by quarter of an hour for six hours.
local RECENT, QUARTER, PAST = 30, 15, 360

kinds.noted = {} -- queue → kind → changes since the last flush

function kinds.text_key(q) return ns .. 'counts:' .. q .. ':e' end

local function index_of(q) return redis_keys.queue(q, 'errors') end

function kinds.of(doc)
  local kind, minute = (doc.error_kind or ''):match('^(%x+),(%d+)$')
  return kind or '', tonumber(minute)
end

function kinds.member(kind, id) return kind .. ':' .. ('0'):rep(16 - #id) .. id end

function kinds.ids_in(members)
  local ids = {}
  for i, member in ipairs(members) do ids[i] = numbers.int(tonumber((member:match('%d+$')))) end
  return ids
end

local function note(doc, n)
  local kind, minute = kinds.of(doc)
  if kind == '' then return end
  local noted = journal.within(journal.within(kinds.noted, doc.queue), kind)
  local minutes, word = journal.within(noted, 'minutes'), numbers.int(minute)
  journal.put(minutes, word, (minutes[word] or 0) + n)
  if n < 0 then return end
  local at = tonumber(doc.ended_at) or minute * 60000
  journal.put(noted, fields.class, doc.class)
  journal.put(noted, 'first', math.min(noted.first or at, at))
  journal.put(noted, 'last', math.max(noted.last or at, at))
end

local function set_entry(id, doc, score)
  cache.zset(index_of(doc.queue), kinds.member(kinds.of(doc), id), score)
end

function kinds.enter(id, doc)
  set_entry(id, doc, 0)
  note(doc, 1)
end

function kinds.leave(id, doc)
  set_entry(id, doc, false)
  note(doc, -1)
  cache.change(id, doc, fields.error_kind, nil)
end

function kinds.set(id, doc, kind, moment)
  cache.change(id, doc, fields.error_kind, kind ~= '' and kind .. ',' .. math.floor(moment / 60000) or nil)
end

function kinds.newest(q, kind, before, most)
  return redis.call('ZREVRANGEBYLEX', index_of(q),
    before ~= '' and '(' .. kinds.member(kind, before) or '(' .. kind .. ';', '(' .. kind .. ':', 'LIMIT', 0, most)
end

function kinds.count(q, kind) return redis.call('ZLEXCOUNT', index_of(q), '(' .. kind .. ':', '(' .. kind .. ';') end

function kinds.size(q) return redis.call('ZCARD', index_of(q)) end

local function is_listed(q, kind)
  local text = cache.text_at(kinds.text_key(q)) or ''
  return kind == '' or text:sub(1, 1) == '+' or keyed.get(text, kind) ~= nil
end

function kinds.has(id, doc)
  local kind = kinds.of(doc)
  return redis.call('ZSCORE', index_of(doc.queue), kinds.member(kind, id)) and is_listed(doc.queue, kind)
end

function kinds.put_back(id, doc)
  set_entry(id, doc, 0)
  if not is_listed(doc.queue, (kinds.of(doc))) then note(doc, 1) end
end

function kinds.drop(q, id, kind)
  if #id > 16 then return end
  for _, one in ipairs({ kind, '' }) do cache.zset(index_of(q), kinds.member(one, id), false) end
end

function kinds.sort(q, jobs)
  local list = {}
  for i = 1, #jobs, 2 do list[#list + 1] = jobs[i] end
  cache.fetch_jobs(list)
  for i, id in ipairs(list) do
    local doc, kind = cache.find(id), jobs[2 * i]
    if doc and doc.place == PLACE.failed and doc.queue == q and kinds.of(doc) ~= kind then
      kinds.leave(id, doc)
      kinds.set(id, doc, kind, tonumber(doc.ended_at) or time.now)
      kinds.enter(id, doc)
    end
  end
end

function kinds.drop_strays(q)
  local members = redis.call('ZRANGE', index_of(q), 0, 999)
  local list = kinds.ids_in(members)
  cache.fetch_jobs(list)
  for i, id in ipairs(list) do
    local doc = cache.find(id)
    local is_in = doc and doc.place == PLACE.failed and doc.queue == q and kinds.member(kinds.of(doc), id) == members[i]
    if not is_in then cache.zset(index_of(q), members[i], false) end
  end
end

local function add_minutes(text, more)
  local found, counts, newest = {}, {}, 0
  for minute, n in text:gmatch('(%d+):(%d+)') do found[#found + 1] = { tonumber(minute), tonumber(n) } end
  for minute, n in pairs(more) do found[#found + 1] = { tonumber(minute), n } end
  for _, one in ipairs(found) do
    if one[2] > 0 then newest = math.max(newest, one[1]) end
  end
  table.sort(found, function(a, b) return a[2] > b[2] end)
  for _, one in ipairs(found) do
    local quarter = numbers.int(one[1] - one[1] % QUARTER)
    local word = newest - one[1] < RECENT and numbers.int(one[1]) or quarter
    if one[2] < 0 and not counts[word] then word = quarter end
    if one[2] > 0 or counts[word] then counts[word] = (counts[word] or 0) + one[2] end
  end
  local kept, words = {}, {}
  for word, n in pairs(counts) do
    if n > 0 and newest - tonumber(word) < PAST then kept[#kept + 1] = tonumber(word) end
  end
  table.sort(kept)
  for i, minute in ipairs(kept) do words[i] = minute .. ':' .. counts[numbers.int(minute)] end
  return table.concat(words, ' ')
end

local LINE = '([^\t\n]*)\t(%d+)\t(%d+)\t([^\n]*)'

local function changed_line(line, more)
  local class, first, last, minutes = line:match('^' .. LINE .. '$')
  first = math.min(tonumber(first) or numbers.never, more.first or numbers.never)
  last = math.max(tonumber(last) or 0, more.last or 0)
  return (more.class or class) .. '\t' .. numbers.int(first) .. '\t' .. numbers.int(last) .. '\t'
    .. add_minutes(minutes or '', more.minutes)
end

local function bounded(text)
  local lines = {}
  for line, last in text:gmatch('(%x+\t[^\t\n]*\t%d+\t(%d+)\t[^\n]*)\n') do
    lines[#lines + 1] = { line = line, last = tonumber(last) }
  end
  if #lines <= MOST then return text end
  table.sort(lines, function(a, b) return a.last > b.last end)
  local kept = {}
  for i = 1, MOST do kept[i] = lines[i].line .. '\n' end
  return '+\n' .. table.concat(kept)
end

function kinds.settle()
  for q, noted in pairs(kinds.noted) do
    local text, is_new = cache.text_at(kinds.text_key(q)) or '\n', false
    for kind, more in pairs(noted) do
      local line = keyed.get(text, kind)
      if line or more.class then text = keyed.set(text, kind, changed_line(line or '', more)) end
      is_new = is_new or not line
    end
    if text ~= '\n' then cache.set_text(kinds.text_key(q), is_new and bounded(text) or text) end
    kinds.noted[q] = nil
  end
end

function kinds.listed(q)
  local text, list = cache.text_at(kinds.text_key(q)) or '', {}
  for kind, class, first, last, minutes in text:gmatch('(%x+)\t' .. LINE .. '\n') do
    list[#list + 1] = { kind = kind, class = class, first = first, last = last, minutes = minutes }
  end
  return list, text:sub(1, 1) == '+'
end
