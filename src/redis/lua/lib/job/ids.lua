-- The last id has two keys, so that no id is assigned twice if one of the keys is lost.
local id_key = ns .. 'jobs:last_id'
local copy_key = ns .. 'jobs:highest'
local last_id

function ids.keep(id)
  local text = numbers.int(id)
  cache.set_text(id_key, text)
  cache.set_text(copy_key, text)
end

local function beyond_all()
  local keys, made = {}, 0
  for i, q in ipairs(redis.call('SMEMBERS', ns .. 'queues')) do keys[i] = redis_keys.queue(q) end
  cache.fetch(keys)
  for _, key in ipairs(keys) do
    for n in (cache.raw[key] or ''):gmatch('"made":(%d+)') do made = made + n end
  end
  return made * 100
end

function ids.stored()
  cache.fetch({ id_key, copy_key })
  return math.max(tonumber(cache.text_at(id_key) or 0) or 0, tonumber(cache.text_at(copy_key) or 0) or 0)
end

local function given()
  if last_id then return last_id end
  local last = ids.stored()
  local is_lost = not cache.text_at(id_key) and not cache.text_at(copy_key) and cache.text_at(cache.schema_key)
  return is_lost and beyond_all() or last
end

function ids.next_ids(n)
  local first = given() + 1
  last_id = first + n - 1
  ids.keep(last_id)
  return first
end

function ids.next_hundred(n)
  local last = given()
  last_id = math.ceil((last + 1) / 100) * 100 - 1
  return ids.next_ids(n)
end

function ids.next_id() return numbers.int(ids.next_ids(1)) end

-- If the caller knows a higher id, Redis was restored from older data. In this case, new ids start after that id.
function ids.must_have_given(id)
  local last = given()
  if id <= last then return end
  local times = tonumber((cache.text_at(ns .. 'epoch') or ''):match('^%d+') or 0)
  ids.keep(id)
  cache.set_text(ns .. 'epoch', times + 1 .. ',' .. time.now_text .. ',' .. last + 1 .. ',' .. id)
end
