tally.heads = {} -- index key → first members that a claim read

local fronts = { ready = queue_fields.first_ready, ['ready:pull'] = queue_fields.first_pull }

-- Returns the number of jobs, and how many of them have no own entry: a piece has one entry in the index.
function tally.known(queue_record, place)
  local letter = redis_keys.letters[place]
  return (queue_record.jobs_at or {})[letter] or 0, (queue_record.packed or {})[letter] or 0
end

function tally.is_empty(q, place)
  local jobs, packed = tally.known(cache.queue(q), place)
  return cache.queue(q).jobs_at ~= nil and jobs == packed
end

function tally.add(queue_record, place, n)
  local letter = redis_keys.letters[place]
  local sum = (queue_record.jobs_at[letter] or 0) + n
  queue_record.jobs_at[letter] = sum ~= 0 and sum or nil
  return sum
end

local function first_left(key, gone)
  local is_gone = tables.set_of(gone)
  for turn = 1, 2 do
    local members = turn == 1 and tally.heads[key] or redis.call('ZRANGE', key, 0, #gone)
    for i = 1, #members do
      if not is_gone[members[i]] then return members[i]:sub(1, 13) end
    end
  end
end

local function front_of(front, n, key, gone, kept)
  for i = 1, front and #gone or 0 do
    if front == gone[i]:sub(1, 13) then front = nil break end
  end
  if not front and n > #kept / 2 then front = first_left(key, gone) end
  for i = 2, #kept, 2 do
    local since = kept[i]:sub(1, 13)
    if not front or since < front then front = since end
  end
  return front
end

function tally.note(key, gone, kept, added)
  local q, place = redis_keys.counted[key][1], redis_keys.counted[key][2]
  local queue_record, field = cache.queue(q), fronts[place]
  if not queue_record.jobs_at then
    tally.look_at_all(q)
    added = 0
    cache.queue_dirty[q] = true
  end
  local n = tally.add(queue_record, place, added - #gone)
  if cache.first_times[place] == queue_fields.next_removal and tally.over(queue_record, place) > 0
    and (queue_record.next_removal or numbers.never) > time.now then
    cache.change_queue(q, queue_fields.next_removal, time.now)
  end
  if added ~= #gone then cache.queue_dirty[q] = true end
  local _, packed = tally.known(queue_record, place)
  local front = field and front_of(queue_record[field], n - packed, key, gone, kept)
  if field and front ~= queue_record[field] then
    queue_record[field] = front
    cache.queue_dirty[q] = true
  end
end

function tally.count(q, place)
  local entries, _, packed = redis.call('ZCARD', redis_keys.queue(q, place)), tally.known(cache.queue(q), place)
  return (entries > 0 and entries + packed or 0) + #tally.in_document(q, place)
end

function tally.in_document(q, place)
  local ids = {}
  for id in pairs(place == 'leases' and cache.queue(q).leased or {}) do ids[#ids + 1] = id end
  return ids
end

function tally.members(q, place, most)
  local members = tally.in_document(q, place)
  tables.append(members, redis.call('ZRANGE', redis_keys.queue(q, place), 0, most - 1))
  return members
end

function tally.score(q, place, member)
  local till = place == 'leases' and (cache.queue(q).leased or {})[member]
  return till or redis.call('ZSCORE', redis_keys.queue(q, place), member)
end

function tally.look(q, place)
  local queue_record = cache.queue(q)
  local letter, field, n = redis_keys.letters[place], fronts[place], tally.count(q, place)
  local first = n > 0 and field and redis.call('ZRANGE', redis_keys.queue(q, place), 0, 0)[1]
  local count, front = n > 0 and n or nil, first and first:sub(1, 13) or nil
  local was_wrong = queue_record.jobs_at[letter] ~= count or field and queue_record[field] ~= front
  queue_record.jobs_at[letter] = count
  if field then queue_record[field] = front end
  return was_wrong
end

function tally.look_at_all(q)
  cache.queue(q).jobs_at = {}
  for place in pairs(redis_keys.letters) do tally.look(q, place) end
end

-- Upstash allows 100 MB per key, and an entry takes 104 bytes. Beyond this number, the tick removes ended jobs in the
-- order of their expiry.
local MOST_KEPT = 500000
function tally.over(queue_record, place)
  local jobs, packed = tally.known(queue_record, place)
  return jobs - packed - MOST_KEPT
end
