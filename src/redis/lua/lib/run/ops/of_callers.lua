local verbs = {}

function verbs.cancel(me, id, doc)
  if doc.place == PLACE.completed or doc.place == PLACE.terminated then
    states.refuse(id, doc, 'there is nothing to cancel')
  end
  cache.change(id, doc, fields.cancelled, '1')
  cache.makes_room = true
  ending.terminate_one(id, doc)
  me.answer = { id, doc.gone or states.of(doc) }
end

function verbs.retry(me, id, doc)
  if doc.place ~= PLACE.failed then states.refuse(id, doc, 'only a failed job can be retried') end
  rerun.retry(id, doc)
  me.answer = { id, states.of(doc) }
end

function verbs.sort(_, queue_name, jobs) kinds.sort(queue_name, jobs) end

function verbs.resend(me, id, doc)
  local callback = doc.callback_of and id or doc.callback_job
  local callback_doc = callback and cache.find(callback)
  if not callback_doc then journal.refuse('NOT_FOUND', 'job ' .. id .. ' has no callback that can be resent') end
  if callback_doc.place == PLACE.leased then
    local of = 'the callback of job ' .. callback_doc.callback_of
    journal.refuse('BUSY', of .. ' (job ' .. callback .. ') is being sent')
  end
  cache.clear(callback, callback_doc, { fields.terminating, fields.not_before })
  cache.change(callback, callback_doc, fields.resent_at, time.now)
  internal.note_delivery(callback, callback_doc, nil)
  queueing.resume(callback, callback_doc)
  me.answer = { callback, states.of(callback_doc) }
end

function verbs.requeue(me, id, doc, forgiven)
  rerun.requeue(id, doc, forgiven)
  me.answer = { id, states.of(doc) }
end

function verbs.requeue_all(me, queue_name, forgiven, jobs)
  for id, doc in cache.each(jobs) do
    if doc.queue == queue_name then rerun.requeue(id, doc, forgiven) end
  end
end

-- Both reads are in one script, so that the job cannot end between them.
function verbs.result(me, job, look, wait)
  local id = aliases.resolve(job)
  local text = results.of(id)
  local status = text and '' or states.of(cache.need(id))
  if text and not look then results.drop(id, cache.find(id)) end
  if not text and not states.ends[status] and wait > 0 then
    local doc = cache.need(id)
    cache.change(id, doc, fields.waited_until, math.max(tonumber(doc.waited_until) or 0, time.now + wait))
  end
  me.nothing = not text
  me.answer = { text or '', status, id }
end

function verbs.deadline(me, token, till)
  local doc = cache.need(me.id)
  if doc.token ~= token then journal.refuse('LOST', 'job ' .. me.id .. ' is no longer in this run') end
  leases.hold(me.id, doc, till)
end

function verbs.lock(me, ms, token)
  local doc = cache.need(me.id)
  if doc.place == PLACE.leased then
    journal.refuse('BUSY', 'job ' .. me.id .. ' is running: it cannot be locked before its run has ended')
  end
  if states.is_locked(doc) then
    journal.refuse('BUSY', 'job ' .. me.id .. ' is locked for another ' .. doc.lock_until - time.now .. ' ms')
  end
  cache.change(me.id, doc, fields.lock_until, time.now + ms)
  cache.change(me.id, doc, fields.lock_token, token)
end

local function need_lock(me, token)
  local doc = cache.need(me.id)
  if not states.is_locked(doc) or doc.lock_token ~= token then
    journal.refuse('CONFLICT', 'job ' .. me.id .. ' is not locked with this token')
  end
  return doc
end

function verbs.refresh(me, token, ms)
  local doc = need_lock(me, token)
  cache.change(me.id, doc, fields.lock_until, time.now + ms)
end

function verbs.unlock(me, token)
  local doc = need_lock(me, token)
  cache.clear(me.id, doc, { fields.lock_until, fields.lock_token })
  if doc.place == PLACE.timers then queueing.enqueue(me.id, doc) end
end

function verbs.look(me) me.nothing = true end

function verbs.expect(me, statuses)
  local is = states.of(cache.need(me.id))
  if not tables.has(statuses, is) then
    journal.refuse('WRONG_STATUS', 'job ' .. me.id .. ' is ' .. is .. ', not ' .. table.concat(statuses, ' or '))
  end
end

function verbs.was(me, field, texts)
  local doc = cache.need(me.id)
  if not tables.has(texts, values.get_value(me.id, doc, field) or '') then
    journal.refuse('CONFLICT', 'job ' .. me.id .. ' has changed since it was read')
  end
end

function verbs.take(me, from, most)
  local items, is_default = ports.take(from, most)
  me.answer = { is_default and '1' or '' }
  for i, item in ipairs(items) do me.answer[i + 1] = item end
end

function verbs.shift(me, from, to, most)
  local pushed, taken = ports.open(from)
  local items = pushed > taken and ports.take(from, most) or {}
  if #items > 0 then write.items(to, items, {}) end
  me.answer = { numbers.int(#items) }
end

function verbs.listen(_, ms, channels)
  hints.listen(ms, channels)
end

function verbs.keep(_, channel, size, item)
  if size > 0 then kept.keep(channel, size, item) else kept.forget(channel) end
end

function verbs.tag(_, id, doc, version, limits, group, seen)
  if seen and seen ~= (doc.constraints_version or '') then return end
  assign.anew(id, doc, version, limits, group)
end

function verbs.apikey(me, id, about, known, chance)
  if known ~= '' and not cache.hget(ns .. 'keys', id) then journal.refuse('NOT_FOUND', 'there is no API key ' .. id) end
  cache.hset(ns .. 'keys', id, about)
  me.answer = { id, chance }
end

local MOST_GRAPHS = 1000
function verbs.graph(me, name, text, by)
  local flows, owners = ns .. 'flows', ns .. 'flows:by'
  local was, owner = cache.hget(flows, name), cache.hget(owners, name)
  if text and not was and redis.call('HLEN', flows) >= MOST_GRAPHS then
    journal.refuse('LIMITED', 'expected at most ' .. MOST_GRAPHS .. ' stored graphs: delete one first')
  end
  if owner then
    local old_by, bytes = owner:match('^(%S+) (%d+)$')
    quota.keep(old_by, -bytes)
  end
  if text and by then quota.keep(by, #text) end
  if owner or by then cache.hset(owners, name, text and by and by .. ' ' .. #text or false) end
  cache.hset(flows, name, text or false)
  me.answer = { was and '1' or '' }
end

function verbs.unring(_, name, bell)
  if cache.queue(name).lanes[bell] then lanes.set(name, bell, nil) end
end

function of_callers.named(word) return verbs[word] end
