-- Lists, oldest first, as they will be. What waits at a port is in the document as long as all of it is small together,
-- where it costs no command of its own, else in a list of Redis.

local lists = {}

-- `pop` of the old items are gone, `push` are new; `had` is how many old ones there are.
function lists.at(key, had)
  local list = writes.lists[key]
  if not list then
    list = { key = key, had = had, pop = 0, push = {} }
    put(writes.lists, key, list)
  end
  return list
end

local sides = { i = 'in', o = 'out' }
local function list_key(id, dir, port) return side_key(id, sides[dir] .. ':' .. port) end

-- What waits at a port; `own` are the old values where the document has them.
function lists.of(id, doc, dir, port, had)
  local list = lists.at(list_key(id, dir, port), had)
  if not list.field then
    list.id, list.field = id, 'v' .. dir .. ':' .. port
    list.own = doc[list.field] and cjson.decode(doc[list.field])
  end
  return list
end

function lists.items(list, n)
  local left, items = math.min(n, list.had - list.pop), {}
  if list.own then
    for i = list.pop + 1, list.pop + left do items[#items + 1] = list.own[i] end
  elseif left > 0 then
    items = redis.call('LRANGE', list.key, list.pop, list.pop + left - 1)
  end
  for i = 1, math.min(n - #items, #list.push) do items[#items + 1] = list.push[i] end
  return items
end

function lists.pop(list, n)
  local old = math.min(n, list.had - list.pop)
  put(list, 'pop', list.pop + old)
  if n > old then
    local rest = {}
    for i = n - old + 1, #list.push do rest[#rest + 1] = list.push[i] end
    put(list, 'push', rest)
  end
end

-- The items from one place to another, or to the end. Not by unpack, which fails for many.
function lists.slice(list, from, to)
  local piece = {}
  for i = from, math.min(to, #list) do piece[#piece + 1] = list[i] end
  return piece
end

-- Many as one change: each for itself was half of the time that 10,000 values take.
local MANY = 100
function lists.push(list, items)
  if #items < MANY then
    for _, item in ipairs(items) do push(list.push, item) end
    return
  end
  local all = lists.slice(list.push, 1, #list.push)
  for _, item in ipairs(items) do all[#all + 1] = item end
  put(list, 'push', all)
  work.puts = work.puts + #items
end

-- All of it goes, and nothing that was to be done with it is.
function lists.forget(list)
  if list.had > 0 and not list.own then del(list.key) end
  put(writes.lists, list.key, nil)
end

-- The values that wait at a port now, in Redis: at most n, behind `skip` of them.
function lists.now(id, doc, dir, port, n, skip)
  local from, own = skip or 0, doc['v' .. dir .. ':' .. port]
  if not own then return n > 0 and redis.call('LRANGE', list_key(id, dir, port), from, from + n - 1) or {} end
  local items = cjson.decode(own)
  return lists.slice(items, from + 1, from + n)
end

function lists.bytes(items)
  local bytes = 0
  for _, item in ipairs(items) do bytes = bytes + #item end
  return bytes
end

-- Values as one text, when there are any and they are small.
local function small(items)
  local size = 0
  for _, item in ipairs(items) do
    size = size + #item
    if size > BIG then return nil end
  end
  return #items > 0 and cjson.encode(items) or nil
end

-- Where there is no list in Redis, or it is used up, the document takes what is there then.
local function keep_small(list)
  local left = {}
  for i = list.pop + 1, list.own and list.had or 0 do left[#left + 1] = list.own[i] end
  for _, item in ipairs(list.push) do left[#left + 1] = item end
  local text = small(left)
  change(list.id, docs[list.id], list.field, text)
  list.push = text and {} or left
  if list.own then list.had, list.pop = 0, 0 end
end

-- Bytes that wait at a port in a list, of those that are not written yet none.
function holding.of_list(id, doc, field)
  local dir, port = field:match('^([io]):(.+)$')
  local pushed, taken = doc[field]:match('^(%d+),(%d+)')
  if doc['v' .. field] or pushed == taken then return 0 end
  local key, bytes = list_key(id, dir, port), 0
  local list = writes.lists[key] or { pop = 0, had = pushed - taken }
  for from = list.pop, list.had - 1, 2000 do
    bytes = bytes + lists.bytes(redis.call('LRANGE', key, from, math.min(from + 1999, list.had - 1)))
  end
  return bytes
end

table.insert(before_flush, function()
  for _, list in pairs(writes.lists) do
    if list.field and (list.own or list.pop == list.had) then keep_small(list) end
    if list.field then
      if list.pop > 0 then holding.lose(list.id, docs[list.id]) end
      if list.push[1] then holding.add(list.id, docs[list.id], lists.bytes(list.push)) end
    end
  end
  holding.added = {}
end)
