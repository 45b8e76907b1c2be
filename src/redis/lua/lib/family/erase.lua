erase.GONE = 60000 -- milliseconds for which commit answers of deleted jobs are kept
function erase.gone_key(token, n) return ns .. 'gone:' .. token .. '|' .. numbers.int(n) end

function erase.last_answer(doc)
  if doc.last_commit then return doc.last_commit:match('^([^|]*)|(%d+)|(.*)$') end
end

local function keep_answer(doc)
  local token, n, answer = erase.last_answer(doc)
  if not token then return end
  local ended = tonumber(((doc.last_run or ''):match('^%d+,(%d+)'))) or 0
  if ended > time.now - erase.GONE then
    cache.set_expiring(erase.gone_key(token, tonumber(n)), answer, erase.GONE)
  end
end

local sides_of = { has_children = 'children', has_steps = 'steps', waits_for = 'waiting', history_kept = 'runs',
  inputs_kept = 'inputs', recorded = 'record', history = 'log' }

local function forget_attached(id, doc)
  for _, port in ipairs(port_refs.of(id, doc)) do
    lists.forget((ports.list(port)))
    for _, c in ipairs(port.dir == 'i' and audience.channels_of(port) or {}) do
      audience.member_change(c, id .. ':' .. port.name, false)
    end
  end
  for _, field in ipairs((values.beside(id, doc))) do cache.drop(values.side_key(id, field)) end
end

function erase.job(id, doc, status)
  local parent = doc.parent
  kin.unlink(id, doc)
  if parent then kin.missed(parent) end
  keep_answer(doc)
  unique.free(id, doc, true)
  if doc.timed_unique_scope then unique.outlive(id, doc, status or states.of(doc)) end
  if doc.place ~= PLACE.new then
    places.leave(id, doc)
    if not states.resting[doc.place] then places.count(doc, -1) end
  end
  if doc.held_limits then limits.release_slots(id, doc) end
  if doc.terminating then cache.note_ending(doc.queue, -1) end
  if doc.repeats then cache.zset(ns .. 'repeats', id, false) end
  if doc.kept_bytes then quota.keep_job(doc, 0) end
  if doc.relay_channel then audience.set_relay(doc.relay_channel, nil) end
  if doc.root_and_level then births.uncount(doc) end
  for _, alias in ipairs(aliases.of(id, doc)) do aliases.set_owner(alias, false) end
  forget_attached(id, doc)
  for flag, name in pairs(sides_of) do
    if doc[flag] then cache.drop(redis_keys.side(id, name)) end
  end
  journal.put(doc, 'gone', status or 'deleted')
  journal.put(cache.docs, id, false)
  journal.put(cache.dirty, id, true)
  hints.publish('/sidejob/job/' .. id, '{"deleted":true}')
end

function erase.tree(tree)
  for i = #tree, 1, -1 do
    local doc = cache.find(tree[i])
    if doc then erase.job(tree[i], doc) end
  end
end
