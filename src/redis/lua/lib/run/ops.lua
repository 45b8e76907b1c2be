-- What can be done to jobs, each verb once: by a run in its commit, and by a call from outside. Each reads its own
-- arguments. `me` is the run's job, or the job that the call names.

local ops = {}

-- A run reaches the jobs of its own tree; `reach` is 'all' where its worker's registration, or the key of its commit, says so.
local function check_reach(me, id)
  if me.token and me.reach ~= 'all' and kin.root(id) ~= kin.root(me.id) then
    refuse('FORBIDDEN', 'job ' .. id .. ' is not of the family of job ' .. me.id .. ': expected a job of the same tree, or a worker that is registered with reach "all"')
  end
end

-- '' is the job itself, '>name' a child, anything else an id or alias.
local function take_target(me)
  local text = take()
  if text == '' then return me.id, need(me.id) end
  local child = text:match('^>(.*)$')
  local id = child and need_child(me.id, child) or resolve(text)
  local doc = need(id)
  if not child then check_reach(me, id) end
  return id, doc
end

local function take_port(me)
  local id, doc = take_target(me)
  return { id = id, doc = doc, dir = take(), port = take() }
end

local function take_specs()
  local specs = {}
  for _ = 1, take_int() do
    local port, has_default, default, channels = take(), take() == '1', take(), take_list()
    specs[port] = { default = has_default and default or nil, channels = channels }
  end
  return specs
end

-- A read that a run made against its snapshot.
function ops.consume(me)
  local of, cursor, n = take_port(me), take_int(), take_int()
  consume(of.id, of.doc, of.dir, of.port, cursor, n)
end

function ops.take(me)
  local of, n = take_port(me), take_int()
  local items, is_default = take_items(of.id, of.doc, of.dir, of.port, n)
  me.answer = { is_default and '1' or '' }
  for i, item in ipairs(items) do me.answer[i + 1] = item end
end

function ops.write(me)
  local to, flags, items = take_port(me), take(), take_list()
  write(to.id, to.doc, to.dir, to.port, items, { quiet = flags:find('q', 1, true), default = flags:find('d', 1, true) })
  local pushed, taken = counts(to.doc, to.dir, to.port)
  me.answer = { int(pushed - taken) }
end

function ops.default(me)
  local of, has_value, value = take_port(me), take() == '1', take()
  open_port(of.id, of.doc, of.dir, of.port)
  set_value(of.id, of.doc, 'd' .. of.dir .. ':' .. of.port, has_value and value or nil)
  holding.check(of.id, of.doc)
  if has_value and of.doc['w' .. of.dir .. ':' .. of.port] then flows.set_off(of.id, of.doc, of.dir, of.port) end
end

function ops.channels(me)
  local of, channels = take_port(me), take_list()
  open_port(of.id, of.doc, of.dir, of.port)
  set_channels(of.id, of.doc, of.dir, of.port, channels)
  holding.check(of.id, of.doc)
end

local function take_targets(me)
  local targets = {}
  for i = 1, take_int() do targets[i] = take_port(me) end
  return targets
end

function ops.connect(me)
  local from = take_port(me)
  local targets = take_targets(me)
  me.answer = { int(connect(from.id, from.doc, from.dir, from.port, targets)) }
end

function ops.wire(me)
  local from, calls = take_port(me), take() == '1'
  local targets = take_targets(me)
  if #targets > 1000 then refuse('TOO_LARGE', 'expected at most 1000 wires at one port, got ' .. #targets) end
  local own = from.dir == 'i' and from.id == me.id or from.dir == 'o' and from.doc.parent == me.id
  if not own then refuse('REFUSED', 'job ' .. me.id .. ' can lay wires from its inputs and from the outputs of its children') end
  flows.lay(from.id, from.doc, from.dir, from.port, calls and 'call' or targets, from.id == me.id and 'the flow' or from.doc.child_name)
end

function ops.amend(me)
  local id, doc = take_target(me)
  local dir, specs = take(), take_specs()
  flows.amend(id, doc, dir, specs, take_list())
end

-- Goes on only if a field of the state still is what was seen; a run that saw something else comes again.
function ops.expect_state(me)
  local field, value = take(), take()
  if (get_value(me.id, need(me.id), 's:' .. field) or '') ~= value then refuse('CONFLICT', 'state ' .. field .. ' of job ' .. me.id .. ' has changed') end
end

-- Moves values alone, and no default.
function ops.shift(me)
  local from, to = take_port(me), take_port(me)
  local pushed, taken = open_port(from.id, from.doc, from.dir, from.port)
  local items = pushed > taken and take_items(from.id, from.doc, from.dir, from.port, take_int()) or {}
  if #items > 0 then write(to.id, to.doc, to.dir, to.port, items, {}) end
  me.answer = { int(#items) }
end

function ops.ports(me)
  local id, doc = take_target(me)
  local dir, specs = take(), take_specs()
  define(id, doc, dir, specs)
end

function ops.set(me)
  local field, value, doc = take(), take(), need(me.id)
  holding.admit(me.id, doc, 's:' .. field)
  set_value(me.id, doc, 's:' .. field, value)
  holding.check(me.id, doc)
end

function ops.unset(me) set_value(me.id, need(me.id), 's:' .. take(), nil) end

function ops.spawn(me)
  local name, spec = take(), take_spec()
  spec.name = name
  create(spec, take(), me.id)
end

function ops.publish(me)
  local channel, item = take(), take()
  relays.charge(1)
  me.answer = { int(publish(channel, { item })) }
end

-- What a relay has left makes it run again; such runs say nothing about a job that runs wild.
function ops.relay(me)
  local doc = need(me.id)
  if relays.run(me.id, doc) then change(me.id, doc, fields.input_during_run, '1') end
  uncount_run(me.id, doc)
end

-- What was done up to here, with so many of the run's own reads, is one entry of the log.
function ops.entry(me)
  local context, reads, defaults = take(), {}, {}
  for _ = 1, take_int() do reads[take()] = take_int() end
  for _ = 1, take_int() do defaults[take()] = take_int() end
  entries.log(me.id, context ~= '' and context or nil, reads, defaults)
end

function ops.log(me)
  local level, entry = take(), take()
  log(me.id, level, entry)
end

-- Of several moments that were asked for, the earliest counts.
local function run_at(id, doc, moment)
  if moment > now and (tonumber(doc.not_before) or never) > moment then change(id, doc, fields.not_before, int(moment)) end
end

-- It was to end, or to go, and is not to any more.
local function spare(id, doc)
  change(id, doc, fields.delete_requested, nil)
  if not doc.terminating then return end
  change(id, doc, fields.terminating, nil)
  if doc.end_was_told then change(id, doc, fields.end_was_told, nil) end
  tell_parent(id, doc, 'queued')
  tell_status(id, doc, status_of(doc))
end

-- Nothing of how it came to rest holds any more.
local function wake_up(id, doc, force)
  spare(id, doc)
  change(id, doc, fields.ended_at, nil)
  if doc.place == 'f' then change(id, doc, fields.failures, nil) end
  if force then change(id, doc, fields.backoff_until, nil) end
  change(id, doc, fields.held, nil)
  stop_waiting(id, doc)
end

-- force, at (absolute) and wait (from now) as in SideJob's run(); 'parent' runs the parent instead.
function ops.run(me)
  local id, doc = take_target(me)
  local force, at_moment, wait, parent, ran = take() == '1', take(), take(), take() == '1', true
  if parent then
    if not doc.parent then refuse('NOT_FOUND', 'job ' .. id .. ' has no parent') end
    id = doc.parent
    doc = need(id)
  end
  if side.is_gone(doc) then
    if doc.place ~= 'l' and doc.place ~= 'T' then
      change(id, doc, fields.has_shutdown, nil)
      terminate_now(id, doc)
    end
    me.warning = { 'REFUSED', 'class ' .. doc.class .. ' is no longer registered for queue ' .. doc.queue .. ': job ' .. id .. ' is terminated' }
    return
  end
  local moment = at_moment ~= '' and tonumber(at_moment) or (wait ~= '' and now + tonumber(wait)) or 0
  local stopped = doc.terminating or doc.place == 'f' or doc.place == 'T'
  if stopped and not force then
    ran = false
  elseif doc.place == 'l' then
    if doc.terminating == '1' then spare(id, doc) end
    if moment <= now then change(id, doc, fields.input_during_run, '1') end
    run_at(id, doc, moment)
  else
    if force then change(id, doc, fields.deliveries, nil) end
    wake_up(id, doc, force)
    -- The delay that it was made with is used up; what was asked for later stays.
    if moment <= now and not doc.ran_at then change(id, doc, fields.not_before, nil) end
    run_at(id, doc, moment)
    if doc.place and doc.place ~= 'p' then enqueue(id, doc, moment <= now) end
  end
  me.answer = { id, status_of(doc), ran and '1' or '' }
end

function ops.terminate(me)
  local id, doc = take_target(me)
  local rest = terminate(id, doc, take() == '1')
  me.answer = { id, doc.gone or status_of(doc), rest or '' }
end

-- What has not begun is terminated, and known as cancelled; a running one is asked to end.
function ops.cancel(me)
  local id, doc = take_target(me)
  if doc.place == 'c' or doc.place == 'T' then refuse('WRONG_STATUS', 'job ' .. id .. ' is ' .. status_of(doc) .. ': there is nothing to cancel') end
  change(id, doc, fields.cancelled, '1')
  terminate_one(id, doc)
  me.answer = { id, doc.gone or status_of(doc) }
end

function kin.retry(id, doc)
  for _, field in ipairs({ fields.failures, fields.lost_in_a_row, fields.deliveries, fields.backoff_until, fields.ended_at }) do change(id, doc, field, nil) end
  enqueue(id, doc, true)
end

function ops.retry(me)
  local id, doc = take_target(me)
  if doc.place ~= 'f' then refuse('WRONG_STATUS', 'job ' .. id .. ' is ' .. status_of(doc) .. ': only a failed job can be retried') end
  kin.retry(id, doc)
  me.answer = { id, status_of(doc) }
end

-- The callback of a job's last end once more, with the same body and id, its tries counted anew.
function ops.resend(me)
  local id, doc = take_target(me)
  local told = doc.callback_of and id or doc.callback_job
  local callback_doc = told and find(told)
  if not callback_doc then refuse('NOT_FOUND', 'job ' .. id .. ' has no callback_doc that could be sent again') end
  if callback_doc.place == 'l' then refuse('BUSY', 'the callback_doc of job ' .. callback_doc.callback_of .. ' (job ' .. told .. ') is being sent') end
  for _, field in ipairs({ fields.failures, fields.lost_in_a_row, fields.backoff_until, fields.ended_at, fields.terminating, fields.not_before }) do change(told, callback_doc, field, nil) end
  change(told, callback_doc, fields.resent_at, int(now))
  local told_doc = find(callback_doc.callback_of)
  if told_doc and told_doc.callback_job == told then change(callback_doc.callback_of, told_doc, fields.callback_status, nil) end
  if callback_doc.place and callback_doc.place ~= 'p' then enqueue(told, callback_doc, true) end
  me.answer = { told, status_of(callback_doc) }
end

-- Back into the queue, whatever it was doing: a run under way is taken from whoever has it, and has had no effect.
function kin.requeue(id, doc, forgiven)
  local rested = ends[status_of(doc)]
  if doc.place == 'l' then
    note_run(id, doc, 'requeued', { again = true })
    uncount_run(id, doc)
    end_lease(id, doc)
  end
  wake_up(id, doc, true)
  for _, field in ipairs({ fields.cancelled, fields.wanted_early, fields.lost_in_a_row, fields.unanswered, fields.not_before }) do change(id, doc, field, nil) end
  if forgiven and doc.deliveries then change(id, doc, fields.deliveries, int(math.max(0, tonumber(doc.deliveries) - 1))) end
  if rested then kin.rejoin(id, doc) end
  enqueue(id, doc, true, tonumber(doc.created_at))
end

function ops.requeue(me)
  local id, doc = take_target(me)
  kin.requeue(id, doc, take() == '1')
  me.answer = { id, status_of(doc) }
end

-- One slice of a bulk job, which counts what it has done and what it has passed over, and shows it.
function ops.bulk(me)
  -- Each answers whether there was something to do.
  local acts = {
    retry = function(id, doc) return doc.place == 'f' and (kin.retry(id, doc) or true) end,
    requeue = function(id, doc) return doc.place ~= nil and doc.place ~= 'p' and (kin.requeue(id, doc) or true) end,
    terminate = function(id, doc) return doc.place ~= 'T' and not doc.terminating and (terminate_one(id, doc) or true) end,
    delete = function(id, doc) return not doc.delete_requested and delete(id, doc, true) ~= nil end,
  }
  local act, ids, doc = acts[take()], take_list(), need(me.id)
  local done, passed = tonumber(doc['s:done']) or 0, tonumber(doc['s:passed']) or 0
  fetch_jobs(ids)
  for _, id in ipairs(ids) do
    local other = find(id)
    if other and act(id, other) then done = done + 1 else passed = passed + 1 end
  end
  change(me.id, doc, 's:done', int(done))
  change(me.id, doc, 's:passed', int(passed))
  me.result = '{"done":' .. int(done) .. ',"passed":' .. int(passed) .. '}'
  set_value(me.id, doc, fields.progress, me.result)
end

-- Whether this was done under the call's key: nothing is done, and nothing kept.
function ops.look(me) me.nothing = true end

-- Goes on only if the job is in one of these statuses.
function ops.expect(me)
  local statuses, is = take_list(), status_of(need(me.id))
  if not has(statuses, is) then refuse('WRONG_STATUS', 'job ' .. me.id .. ' is ' .. is .. ', not ' .. table.concat(statuses, ' or ')) end
end

-- Goes on only if a field still is what the caller has seen.
function ops.was(me)
  local doc, field, value = need(me.id), take(), take()
  if (get_value(me.id, doc, field) or '') ~= value then refuse('CONFLICT', 'job ' .. me.id .. ' has been changed meanwhile') end
end

-- Another class: of a queue where pull workers choose by it.
function ops.rename(me)
  local id, doc, class = me.id, need(me.id), take()
  local key = doc.unique_scope and doc.unique_scope:match('\n([^\n]*)$')
  unique.let_go(id, doc)
  change(id, doc, fields.class, class)
  local scope = key and unique.scope(doc.queue, class, key)
  if scope and not unique.holder(scope) then unique.hold(id, doc, scope) end
  if doc.parent then hset(children_key(doc.parent), doc.child_name, id .. ',' .. (kin.status(doc.parent, doc.child_name) or status_of(doc)) .. ',' .. class) end
end

function ops.forget(me) kin.forget(me.id, need(me.id)) end

function ops.delete(me)
  local id, doc = take_target(me)
  local force = take() == '1'
  if force and me.token and me.reach ~= 'all' then
    refuse('FORBIDDEN', 'a run deletes job ' .. id .. ' with force: expected the scope "admin", or a worker that is registered with reach "all"')
  end
  me.answer = { delete(id, doc, force) }
end

function ops.adopt(me)
  local orphan, name = resolve(take()), take()
  need(orphan)
  check_reach(me, orphan)
  adopt(me.id, need(me.id), orphan, name)
end

function ops.disown(me)
  local child = need_child(me.id, take())
  local doc = need(child)
  unlink(child, doc)
  kin.free(child, doc)
  kin.missed(me.id)
end

function ops.alias(me)
  local alias = take()
  add_alias(me.id, need(me.id), alias)
end

function ops.unalias(me)
  local alias = take()
  remove_alias(me.id, need(me.id), alias)
end

function ops.step(me)
  local name, value, doc = take(), take(), need(me.id)
  hset(side_key(me.id, 'steps'), name, value)
  change(me.id, doc, fields.has_steps, '1')
  holding.add(me.id, doc, #name + #value)
  holding.check(me.id, doc)
end

-- Steps that nobody will ask for again.
function ops.unstep(me)
  hset(side_key(me.id, 'steps'), take(), false)
  holding.lose(me.id, need(me.id))
end

-- It has what it wanted of a child that has ended: the child goes its own way, and its result is kept no longer.
function ops.inherit(me)
  local child = need_child(me.id, take())
  unlink(child, need(child))
  del(ns .. 'result:' .. child)
end

function ops.lock(me)
  local doc, ttl, token = need(me.id), take_int(), take()
  if doc.place == 'l' then refuse('BUSY', 'job ' .. me.id .. ' is running: it cannot be locked before its run has ended') end
  if (tonumber(doc.lock_until) or 0) > now then refuse('BUSY', 'job ' .. me.id .. ' is locked until ' .. doc.lock_until) end
  change(me.id, doc, fields.lock_until, int(now + ttl))
  change(me.id, doc, fields.lock_token, token)
end

local function need_lock(me)
  local doc, token = need(me.id), take()
  if (tonumber(doc.lock_until) or 0) <= now or doc.lock_token ~= token then refuse('CONFLICT', 'job ' .. me.id .. ' is not locked with this token') end
  return doc
end

function ops.refresh(me)
  local doc = need_lock(me)
  change(me.id, doc, fields.lock_until, int(now + take_int()))
end

-- Until when the run under way has the job.
function ops.deadline(me)
  local doc, token, till = need(me.id), take(), take_int()
  if doc.token ~= token then refuse('LOST', 'job ' .. me.id .. ' is not in this run') end
  change(me.id, doc, fields.lease_until, int(till))
  move(me.id, doc, 'l', till)
  if doc.held_limits then renew_slots(me.id, doc) end
end

function ops.unlock(me)
  local doc = need_lock(me)
  change(me.id, doc, fields.lock_until, nil)
  change(me.id, doc, fields.lock_token, nil)
  if doc.place == 't' then enqueue(me.id, doc) end
end

function ops.tag(me)
  local id, doc = take_target(me)
  local version, limits = take(), {}
  for i = 1, take_int() do limits[i] = { take(), take(), take(), take(), take() } end
  local group = take()
  kin.tag(id, doc, version ~= '' and version or nil, limits, group ~= '' and group or nil)
end

-- Fields of the document that a person may change; an empty value clears.
function ops.patch(me)
  local doc, postponed, moved = need(me.id), false, false
  for _ = 1, take_int() do
    local field, value = take(), take()
    set_value(me.id, doc, field, value ~= '' and value or nil)
    if field == fields.repeats and value == '' then zset(ns .. 'repeats', me.id, false) end
    if field == fields.not_before then postponed = (tonumber(value) or 0) > now end
    if field == fields.not_before or field == fields.next_slot then moved = true end
  end
  holding.check(me.id, doc)
  if doc.place == 't' or (not doc.place and postponed) or (doc.place == 'p' and moved) then return enqueue(me.id, doc) end
  if not doc.place or doc.place == 'p' then zset(index_of(doc), member_of(me.id, doc), order.score(doc)) end
  if doc.place == 'w' then move(me.id, doc, 'w', nil, doc.waiting_limit) end
end

-- The result that is kept, or else the job's status: asked in one step, so that a job cannot end between the two. Whoever
-- waits for so long says it, and is called when the job ends.
function ops.result(me)
  local id, peek, wait = resolve(take()), take() == '1', take_int()
  local text = result.of(id)
  local status = text and '' or status_of(need(id))
  if text and not peek then del(ns .. 'result:' .. id) end
  if not text and not ends[status] and wait > 0 then
    local doc = need(id)
    change(id, doc, fields.waited_until, int(math.max(tonumber(doc.waited_until) or 0, now + wait)))
  end
  me.nothing = not text
  me.answer = { text or '', status, id }
end

-- An API key by its id, with its hash. One that is to be changed must be there: what was removed does not come back. `known`
-- is where it stands: under its id, or where an earlier version has put it.
function ops.apikey(me)
  local id, about, known, chance = take(), take(), take(), take()
  if known ~= '' and not hget(ns .. 'keys', known) then refuse('NOT_FOUND', 'there is no API key ' .. id) end
  if known ~= '' and known ~= id then hset(ns .. 'keys', known, false) end
  hset(ns .. 'keys', id, about)
  me.answer = { id, chance }
end

-- Somebody outside listens for the next so many milliseconds.
function ops.listen()
  local system, till, version = hints()
  set_hints(system, math.max(till, now + take_int()), version)
end

-- A bell that could not be published is taken back.
function ops.unring()
  local q, bell = take(), take()
  if queue(q).lanes[bell] then set_lane(q, bell, nil) end
end
