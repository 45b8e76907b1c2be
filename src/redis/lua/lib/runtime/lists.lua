-- If the values of a port have at most 512 bytes in total, the document contains them, which costs no command.
-- Otherwise a list contains them.

-- `had`: number of old items. `pop`: number of old items to remove. `push`: items to append.
function lists.at(key, had)
  local list = cache.writes.lists[key]
  if not list then
    list = { key = key, had = had, pop = 0, push = {} }
    journal.put(cache.writes.lists, key, list)
  end
  return list
end

local function in_document(port)
  local text = port.doc['v' .. port.field]
  return text and (readable.decode(text, redis_keys.job(port.id) .. ' v' .. port.field) or {})
end

function lists.of(port, had)
  local list = lists.at(redis_keys.list(port), had)
  if not list.field then list.id, list.field, list.own = port.id, 'v' .. port.field, in_document(port) end
  return list
end

function lists.items(list, n)
  local left, items = math.min(n, list.had - list.pop), {}
  if list.own then
    items = tables.slice(list.own, list.pop + 1, list.pop + left)
  elseif left > 0 then
    items = redis.call('LRANGE', list.key, list.pop, list.pop + left - 1)
  end
  for i = 1, math.min(n - #items, #list.push) do items[#items + 1] = list.push[i] end
  return items
end

function lists.pop(list, n)
  local old = math.min(n, list.had - list.pop)
  journal.put(list, 'pop', list.pop + old)
  if n > old then journal.put(list, 'push', tables.slice(list.push, n - old + 1, #list.push)) end
end

-- From this many items on, copying the list is faster.
local MANY = 100

function lists.push(list, items)
  if #items < MANY then
    for _, item in ipairs(items) do journal.push(list.push, item) end
    return
  end
  local all = tables.slice(list.push, 1, #list.push)
  tables.append(all, items)
  journal.put(list, 'push', all)
  journal.puts = journal.puts + #items
end

function lists.forget(list)
  if list.had > 0 and not list.own then cache.del(list.key) end
  journal.put(cache.writes.lists, list.key, nil)
end

function lists.now(port, n, skip)
  local from, own = skip or 0, in_document(port)
  if own then return tables.slice(own, from + 1, from + n) end
  return n > 0 and redis.call('LRANGE', redis_keys.list(port), from, from + n - 1) or {}
end

local function small(items)
  local size = 0
  for _, item in ipairs(items) do
    size = size + #item
    if size > values.BIG then return nil end
  end
  return #items > 0 and cjson.encode(items) or nil
end

local function keep_in_document(list)
  local left = list.own and tables.slice(list.own, list.pop + 1, list.had) or {}
  tables.append(left, list.push)
  local text = small(left)
  cache.change(list.id, cache.docs[list.id], list.field, text)
  list.push = text and {} or left
  if list.own then list.had, list.pop = 0, 0 end
end

function lists.keep_small()
  for _, list in pairs(cache.writes.lists) do
    if list.field and (list.own or list.pop == list.had) then keep_in_document(list) end
    if list.field then
      if list.pop > 0 then values.lose(list.id, cache.docs[list.id]) end
      if list.push[1] then values.add(list.id, cache.docs[list.id], tables.bytes(list.push)) end
    end
  end
end
