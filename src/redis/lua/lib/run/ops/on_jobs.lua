local verbs = {}

function verbs.run(me, id, doc, force, at, wait, parent)
  local ran = true
  if parent then
    if not doc.parent then journal.refuse('NOT_FOUND', 'job ' .. id .. ' has no parent') end
    id = doc.parent
    doc = cache.need(id)
  end
  if sides.is_gone(doc) then
    if doc.place ~= PLACE.leased and doc.place ~= PLACE.terminated then
      cache.change(id, doc, fields.has_shutdown, nil)
      ending.terminate_now(id, doc)
    end
    me.warning = { 'REFUSED',
      'class ' .. doc.class .. ' is no longer registered for queue ' .. doc.queue .. ': job ' .. id
      .. ' is terminated' }
    return
  end
  local moment = at or (wait and time.now + wait) or 0
  local stopped = doc.terminating or doc.place == PLACE.failed or doc.place == PLACE.terminated
  if stopped and not force then
    ran = false
  elseif doc.place == PLACE.leased then
    if doc.terminating == TERMINATING.asked then rerun.spare(id, doc) end
    if moment <= time.now then cache.change(id, doc, fields.input_during_run, '1') end
    rerun.run_at(id, doc, moment)
  else
    if force then cache.change(id, doc, fields.deliveries, nil) end
    rerun.wake_up(id, doc, force)
    if moment <= time.now and not doc.ran_at then cache.change(id, doc, fields.not_before, nil) end
    rerun.run_at(id, doc, moment)
    if not states.is_ready(doc) then queueing.enqueue(id, doc, moment <= time.now) end
  end
  me.answer = { id, states.of(doc), ran and '1' or '' }
end

function verbs.terminate(me, id, doc, recursive)
  cache.makes_room = not me.token
  local rest = ending.terminate(id, doc, recursive)
  me.answer = { id, doc.gone or states.of(doc), rest or '' }
end

local MOST_PUTS = 12000

function verbs.bulk(me, act, jobs, to)
  local acts = {
    ['retry'] = function(id, doc) return doc.place == PLACE.failed and (rerun.retry(id, doc) or true) end,
    requeue = function(id, doc)
      return not states.is_ready(doc) and (rerun.requeue(id, doc) or true)
    end,
    terminate = function(id, doc)
      return doc.place ~= PLACE.terminated and not doc.terminating and (ending.terminate_one(id, doc) or true)
    end,
    delete = function(id, doc) return not doc.delete_requested and ending.delete(id, doc, true) ~= nil end,
    move = function(id, doc) return rerun.move(id, doc, to) end,
  }
  local doc = cache.need(me.id)
  local done, passed = tonumber(doc['s:done']) or 0, tonumber(doc['s:passed']) or 0
  cache.fetch_jobs(jobs)
  local stop = journal.puts + MOST_PUTS
  for i, id in ipairs(jobs) do
    local other = cache.find(id)
    if other and acts[act](id, other) then done = done + 1 else passed = passed + 1 end
    if journal.puts > stop and jobs[i + 1] then
      values.set_value(me.id, doc, 's:cursor', '"' .. id .. '"')
      me.ending = 'again'
      break
    end
  end
  cache.change(me.id, doc, 's:done', done)
  cache.change(me.id, doc, 's:passed', passed)
  me.result = '{"done":' .. done .. ',"passed":' .. passed .. '}'
  values.set_value(me.id, doc, fields.progress, me.result)
end

function verbs.delete(me, id, doc, force)
  if force and me.token and me.reach ~= 'all' then
    journal.refuse('FORBIDDEN',
      'a run cannot delete job ' .. id
      .. ' with force: expected the scope "admin", or a worker that is registered with reach "all"')
  end
  cache.makes_room = not me.token
  me.answer = { ending.delete(id, doc, force) }
end

function on_jobs.named(word) return verbs[word] end
