-- Each job has exactly one `place`, the index that contains it. Only `move` changes `place`.

places.to_call = {} -- queue → classes that became ready for pull workers

-- job that follows its children → 'turned' if a child failed, was terminated or recovered, otherwise 'moved'
places.moved = {}

function places.index_of(doc)
  if doc.place == PLACE.limited then return redis_keys.limit(doc.waiting_limit, 'waiting') end
  return redis_keys.queue(doc.queue, states.index(doc.place))
end

function places.member_of(id, doc)
  if doc.place == PLACE.limited then return (turns.turn_at(doc, doc.waiting_limit) or doc.sequence) .. ':' .. id end
  if states.is_ready(doc) then return doc.sequence .. ':' .. id end
  return id
end

function places.count_child(id, doc, parent, is)
  local was, above_doc = doc.followed_as, cache.find(parent)
  if was == is or not above_doc or not above_doc.followed then return end
  local n = {}
  n.b, n.s, n.x = above_doc.followed:match('^(%d+),(%d+),(%d+)$')
  if n[was] then n[was] = n[was] - 1 end
  if n[is] then n[is] = n[is] + 1 end
  cache.change(parent, above_doc, fields.followed, n.b .. ',' .. n.s .. ',' .. n.x)
  cache.change(id, doc, fields.followed_as, is)
  local turned = was == FOLLOWED_AS.broken or is == FOLLOWED_AS.broken
  journal.put(places.moved, parent, (turned or places.moved[parent] == 'turned') and 'turned' or 'moved')
end

function places.set_entry(id, doc, status)
  cache.hset(redis_keys.side(doc.parent, 'children'), doc.child_name, id .. ',' .. status .. ',' .. doc.class)
end

function places.tell_parent(id, doc, status)
  if not doc.parent or status == 'running' then return end
  if doc.followed_as then places.count_child(id, doc, doc.parent, states.kinds[status]) end
  places.set_entry(id, doc, status)
end

function places.call_watchers(id, doc, is)
  if not doc.waited_until or not states.ends[is] then return end
  if tonumber(doc.waited_until) > time.now then cache.publish('ended:' .. id, is) end
  cache.change(id, doc, fields.waited_until, nil)
end

function places.announce(id, doc, was)
  local is = states.of(doc)
  if is == was then return end
  places.tell_parent(id, doc, is)
  hints.publish_status(id, doc, is)
  places.call_watchers(id, doc, is)
end

function places.queue_up(id, doc, since)
  if not doc.created_at then
    cache.change(id, doc, fields.created_at, time.moment_of_sequence(doc.sequence))
  end
  cache.change(id, doc, fields.sequence, since and time.sequence_of(since, id) or time.sequence())
  cache.change(id, doc, fields.turns, nil)
end

function places.count(doc, n)
  if doc.group then limits.count_in_group(doc, n) end
  if doc.quota_bytes then quota.add(doc.api_key, n, n * doc.quota_bytes) end
end

function places.leave(id, doc, is_let_through)
  if cache.loose[id] then
    journal.put(cache.loose, id, nil)
  else
    cache.zset(places.index_of(doc), places.member_of(id, doc), false)
  end
  if doc.place == PLACE.limited then
    limits.count_waiting(doc.queue, doc.waiting_limit, -1)
    turns.leave(doc, is_let_through)
  end
  if doc.reserved_limit and states.is_ready(doc) then limits.drop_baton(id, doc) end
  if doc.place == PLACE.failed then kinds.leave(id, doc) end
end

function places.put(id, doc, moment)
  cache.zset(places.index_of(doc), places.member_of(id, doc), moment or order.score(doc))
  local field = cache.first_times[states.index(doc.place)]
  if field then cache.soonest(doc.queue, field, moment) end
  if not doc.place then lanes.ring(doc.queue, 1) end
  if doc.place == PLACE.pull then journal.push(journal.within(places.to_call, doc.queue), doc.class) end
end

-- `moment`: score in an index by time. `key`: limit that the job waits for. `keeps`: true if the job keeps its
-- sequence. `since`: when the job became due.
function places.move(id, doc, place, moment, key, keeps, since)
  local was = cache.docs[id] and doc.place ~= PLACE.new and states.of(doc)
  local rested, rests = not was or states.resting[doc.place] ~= nil, states.resting[place] ~= nil
  if was then places.leave(id, doc, keeps) end
  if (not place or place == PLACE.pull) and not keeps then places.queue_up(id, doc, since) end
  if rested ~= rests then places.count(doc, rested and 1 or -1) end
  if doc.place == PLACE.leased then
    journal.put(leased.newly_lent, id, false)
  elseif place == PLACE.leased and leased.newly_lent[id] == nil then
    journal.put(leased.newly_lent, id, true)
  end
  cache.change(id, doc, fields.waiting_limit, key)
  if key then
    turns.take(id, doc, key)
    limits.count_waiting(doc.queue, key, 1)
  end
  cache.change(id, doc, fields.place, place)
  places.put(id, doc, moment)
  if place == PLACE.failed then kinds.enter(id, doc) end
  places.announce(id, doc, was)
end

function places.settle(removal)
  for id in pairs(cache.loose) do
    local doc = cache.docs[id]
    if doc then
      local till = doc.place == PLACE.leased and tonumber(doc.lease_until)
      cache.zset(places.index_of(doc), places.member_of(id, doc), till
        or (doc.place == PLACE.completed and removal(id, doc, 'c')) or order.score(doc))
      if till then cache.soonest(doc.queue, queue_fields.next_lease, till) end
    end
    journal.put(cache.loose, id, nil)
  end
end
