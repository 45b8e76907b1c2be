local verbs = {}

local OUTDATED = '-'

function verbs.expect_state(me, field, texts)
  if not tables.has(texts, values.get_value(me.id, cache.need(me.id), 's:' .. field) or '') then
    journal.refuse('CONFLICT', 'state ' .. field .. ' of job ' .. me.id .. ' has changed')
  end
end

function verbs.set(me, field, value)
  local doc = cache.need(me.id)
  values.admit(me.id, doc, 's:' .. field)
  values.set_value(me.id, doc, 's:' .. field, value)
  values.check(me.id, doc)
end

function verbs.unset(me, field) values.set_value(me.id, cache.need(me.id), 's:' .. field, nil) end

function verbs.rename(me, class)
  local id, doc = me.id, cache.need(me.id)
  local key = doc.unique_scope and doc.unique_scope:match('\n([^\n]*)$')
  unique.let_go(id, doc)
  if doc.place == PLACE.failed then kinds.leave(id, doc) end
  cache.change(id, doc, fields.class, class)
  if doc.place == PLACE.failed then kinds.enter(id, doc) end
  cache.change(id, doc, fields.constraints_version, OUTDATED .. time.sequence())
  local scope = key and unique.scope(doc.queue, class, key)
  if scope and not unique.holder(scope) then unique.hold(id, doc, scope) end
  if doc.parent then
    local _, status = kin.child(doc.parent, doc.child_name)
    places.set_entry(id, doc, status or states.of(doc))
  end
end

function verbs.alias(me, name) aliases.add(me.id, cache.need(me.id), { name }) end

function verbs.unalias(me, name) aliases.remove(me.id, cache.need(me.id), name) end

function verbs.step(me, name, value, took)
  local doc = cache.need(me.id)
  -- `@` marks the time, duration and run of the step, because no value begins with `@`.
  value = '@' .. time.now_text .. ',' .. took .. ',' .. (doc.run_number or '') .. '\n' .. value
  local key = redis_keys.side(me.id, 'steps')
  if doc.has_steps == 'e' then cache.drop(key) end
  cache.hset(key, name, value)
  cache.change(me.id, doc, fields.has_steps, '1')
  values.add(me.id, doc, #name + #value)
  values.check(me.id, doc)
end

function verbs.unstep(me, name)
  cache.hset(redis_keys.side(me.id, 'steps'), name, false)
  values.lose(me.id, cache.need(me.id))
end

local function rests(doc)
  return doc.place == PLACE.completed
    or (doc.place == PLACE.suspended and not (doc.held or doc.waits_for or doc.followed))
end

local function has_no_run_left(doc)
  return not (doc.not_before or doc.next_slot or doc.sleep_until or doc.backoff_until or doc.wanted_early
    or doc.terminating)
end

function verbs.patch(me, patched)
  local doc, postponed, scheduled, moved, ended = cache.need(me.id), false, false, false, false
  if doc.place == PLACE.pull and queueing.own_moment(doc) > time.now then
    cache.change(me.id, doc, fields.wanted_early, '1')
  end
  for _, e in ipairs(patched) do
    local field, value = e[1], e[2]
    values.set_value(me.id, doc, field, value ~= '' and value or nil)
    if field == fields.repeats and value == '' then
      ended = true
      cache.zset(ns .. 'repeats', me.id, false)
    end
    if field == fields.args and doc.constraints_version then
      cache.change(me.id, doc, fields.constraints_version, OUTDATED .. time.sequence())
    end
    if field == fields.not_before then moved, postponed = true, (tonumber(value) or 0) > time.now end
    if field == fields.next_slot then moved, scheduled = true, value ~= '' end
  end
  if postponed then cache.change(me.id, doc, fields.wanted_early, nil) end
  values.check(me.id, doc)
  if ended and doc.place == PLACE.timers and has_no_run_left(doc) then
    if not doc.followed then return ending.finish(me.id, doc, PLACE.completed, 'null') end
    if doc.followed:sub(-2) == ',0' then return follow.keep_up(me.id, doc) end
    return queueing.enqueue(me.id, doc, true)
  end
  if (postponed or scheduled) and rests(doc) then
    rerun.wake_up(me.id, doc)
    return queueing.enqueue(me.id, doc)
  end
  if doc.place == PLACE.timers or (not doc.place and postponed) or
    (doc.place == PLACE.pull and moved and not doc.wanted_early) then
    return queueing.enqueue(me.id, doc)
  end
  if states.is_ready(doc) then
    cache.zset(places.index_of(doc), places.member_of(me.id, doc), order.score(doc))
  end
  if doc.place == PLACE.limited then places.move(me.id, doc, PLACE.limited, nil, doc.waiting_limit) end
end

function verbs.record(me, keep)
  cache.change(me.id, cache.need(me.id), fields.recorded, keep)
  if not keep then cache.del(redis_keys.side(me.id, 'record')) end
end

function on_records.named(word) return verbs[word] end
