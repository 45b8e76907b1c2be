-- Making jobs: one spec of arguments, from outside or from a run.

-- The id of a job that was refused is not given again.
local id_key, last_id = ns .. 'jobs:last_id'
local function next_ids(n)
  local first = (last_id or tonumber(text_at(id_key) or 0)) + 1
  last_id = first + n - 1
  set_text(id_key, string.format('%.0f', last_id))
  return first
end
local function next_id() return string.format('%.0f', next_ids(1)) end

-- Who asks has seen this id. When none as high was given, Redis has gone back to data from before it: what was given since
-- is not given again, and everybody can read when that was, and which ids are lost.
local function must_have_given(id)
  local given = tonumber(text_at(id_key) or 0)
  if id <= given then return end
  local times = tonumber(((text_at(ns .. 'epoch') or '0'):match('^%d+')))
  set_text(id_key, int(id))
  set_text(ns .. 'epoch', int(times + 1) .. ',' .. now_text .. ',' .. int(given + 1) .. ',' .. int(id))
end

-- A job by its id or one of its aliases.
local function resolve(ref)
  if ref:match('^[1-9]%d*$') then return ref end
  local id = hget(ns .. 'jobs:aliases', ref)
  if not id then refuse('NOT_FOUND', 'job ' .. ref .. ' does not exist') end
  return id
end

local function check_registered(q, class, known)
  if known == '1' or queue(q).mode == 'pull' then return end
  if redis.call('HEXISTS', ns .. 'workers:' .. q, class) == 0 then
    refuse('REFUSED', 'class ' .. class .. ' is not registered for queue ' .. q)
  end
end

local MOST_ALIASES = 100
local function add_alias(id, doc, alias)
  local owner = hget(ns .. 'jobs:aliases', alias)
  if owner == id then return end
  if owner then refuse('TAKEN', 'alias ' .. alias .. ' belongs to job ' .. owner) end
  local list = doc.aliases and cjson.decode(doc.aliases) or {}
  if #list >= MOST_ALIASES then refuse('TOO_LARGE', 'job ' .. id .. ': expected at most ' .. MOST_ALIASES .. ' aliases, got one more') end
  list[#list + 1] = alias
  change(id, doc, fields.aliases, cjson.encode(list))
  hset(ns .. 'jobs:aliases', alias, id)
end

local function remove_alias(id, doc, alias)
  local list, left = doc.aliases and cjson.decode(doc.aliases) or {}, {}
  for _, a in ipairs(list) do
    if a ~= alias then left[#left + 1] = a end
  end
  if #left == #list then refuse('NOT_FOUND', 'job ' .. id .. ' has no alias ' .. alias) end
  change(id, doc, fields.aliases, #left > 0 and cjson.encode(left) or nil)
  hset(ns .. 'jobs:aliases', alias, false)
end

-- What can be asked of a new job beyond its document; each reads its own arguments.
local options = {
  parent = function(spec) spec.parent, spec.name = take(), take() end,
  unique = function(spec) spec.unique, spec.unique_for, spec.unique_how = take(), take(), take() end,
  debounce = function(spec) spec.debounce = take() end,
  joining = function(spec) spec.joining = true end,
  alias = function(spec) push(within(spec, 'aliases'), take()) end,
  input = function(spec) push(within(spec, 'inputs'), { take(), take_list() }) end,
  value = function(spec) push(within(spec, 'values'), { take(), take() }) end,
  limit = function(spec) push(within(spec, 'limits'), { take(), take(), take(), take(), take() }) end,
  listen = function(spec) push(within(spec, 'listens'), { take(), take(), take_list() }) end,
}

-- What jobs that differ only in their args have in common. `tail` is the document as far as the caller knows it, with
-- its opening brace; at is absolute, wait from now.
local function take_spec()
  local spec = { queue = take(), class = take(), known = take(), at = take(), wait = take(), priority = take_int(), tail = take() }
  local n = take_int()
  spec.plain = n == 0
  for _ = 1, n do options[take()](spec) end
  return spec
end

local function moment_of(spec)
  local moment = spec.at ~= '' and tonumber(spec.at) or (spec.wait ~= '' and now + tonumber(spec.wait)) or nil
  return moment and moment > now and moment or nil, moment
end

-- how: first (a group: the first to name it sets it), set, or '' (set elsewhere).
local function add_limit(id, doc, key, how, concurrency, rate, period)
  if how ~= '' then
    define_limit(key, limit_fields { concurrency = tonumber(concurrency), rate = tonumber(rate), period = tonumber(period), auto = how == 'first' and 1 or nil }, how)
  end
  if how == 'first' then change(id, doc, fields.group_concurrency, concurrency ~= '' and concurrency or nil) end
  change(id, doc, fields.limits, doc.limits and doc.limits .. '\n' .. key or key)
end

-- The keys that a job counts against, all of them anew; a running one counts so from its next run.
function kin.tag(id, doc, version, limits, group)
  local was = doc.group
  change(id, doc, fields.limits, nil)
  for _, e in ipairs(limits) do add_limit(id, doc, unpack(e, 1, 5)) end
  if group ~= was then
    if was and not resting[doc.place] then count_in_group(doc, -1) end
    change(id, doc, fields.group, group)
    if doc.group and not resting[doc.place] then count_in_group(doc, 1) end
  end
  change(id, doc, fields.constraints_version, version)
  if doc.reserved_limit and not has(keys_of(doc), doc.reserved_limit) then drop_baton(id, doc) end
  if doc.place == 'w' or not doc.place or doc.place == 'p' then
    local full = first_full(doc)
    if full then return set_aside(id, doc, full) end
    if doc.place == 'w' then move(id, doc, side.of(doc.queue, doc.class, doc.tag), nil, nil, true) end
  end
end

-- What a unique key stands for, and which job holds it. Where it is held for a time, the key says until when, and how
-- its job stood when that was removed.
local unique = {}
function unique.scope(q, class, key) return q .. '\n' .. class .. '\n' .. key end
function unique.holder(scope)
  local id, till, left_as = (text_at(ns .. 'unique:' .. scope) or ''):match('^(%d+),?(%d*),?(%a*)$')
  if not id or (till ~= '' and tonumber(till) <= now) then return nil, nil end
  local doc = find(id)
  if doc then return id, status_of(doc) end
  if left_as and left_as ~= '' then return id, left_as end
end
function unique.hold(id, doc, scope)
  change(id, doc, fields.unique_scope, scope)
  set_text(ns .. 'unique:' .. scope, id)
end
function unique.hold_for(id, doc, scope, ms)
  change(id, doc, fields.timed_unique_scope, scope)
  set_expiring(ns .. 'unique:' .. scope, id .. ',' .. int(now + ms), ms)
end

function unique.let_go(id, doc)
  free_unique(id, doc, true)
  change(id, doc, fields.unique_scope, nil)
end

-- A job of a debounced key that waits is asked for again: the newest call says what it is to do, and when.
function unique.postpone(id, doc, spec, args)
  local newest = args ~= '' and args or nil
  for _, e in ipairs(spec.values or {}) do
    if e[1] == fields.args then newest = e[2] end
  end
  set_value(id, doc, fields.args, newest)
  local most = spec.debounce ~= '' and tonumber(doc.created_at) + tonumber(spec.debounce) or never
  local moment, asked_doc = math.min(now + tonumber(spec.wait), most), cjson.decode(spec.tail)
  change(id, doc, fields.not_before, moment > now and int(moment) or nil)
  change(id, doc, fields.wanted_early, nil)
  kin.tag(id, doc, asked_doc.constraints_version, spec.limits or {}, asked_doc.group)
  if moment > now or doc.place == 't' then enqueue(id, doc) end
end

-- Whether a job waits and nobody has begun it; one that is asked to end will not be.
function unique.waits(doc) return not doc.terminating and (not doc.place or doc.place == 'p' or doc.place == 't' or doc.place == 'w') end

-- How: with letters in it, d = held until deleted, s = until started, not until ended; p = a hit must have the same parent, or none;
-- c = makes a job whoever holds the key, and holds it only if it is free.
local function unique_is(spec, letter) return spec.unique_how:find(letter, 1, true) ~= nil end

local function claim_unique(spec, id, doc)
  local scope = unique.scope(spec.queue, spec.class, spec.unique)
  if unique_is(spec, 'c') and unique.holder(scope) then return end
  if unique_is(spec, 'd') then change(id, doc, fields.unique_held, '1') end
  if unique_is(spec, 's') then change(id, doc, fields.unique_held, spec.debounce and 'b' or 's') end
  if spec.unique_for == '' then unique.hold(id, doc, scope) else unique.hold_for(id, doc, scope, tonumber(spec.unique_for)) end
end

local function existing_job(spec, parent, args)
  if not spec.unique or unique_is(spec, 'c') then return nil, nil end
  local id, status = unique.holder(unique.scope(spec.queue, spec.class, spec.unique))
  local doc = id and find(id)
  if not doc then return id, status end
  if unique_is(spec, 'p') and doc.parent and doc.parent ~= parent then
    refuse('CONFLICT', 'job ' .. id .. ' is that job, and a child of job ' .. doc.parent)
  end
  if spec.debounce and doc.unique_held == 'b' then
    if not unique.waits(doc) then return unique.let_go(id, doc) end
    unique.postpone(id, doc, spec, args)
  end
  return id, status_of(doc)
end

-- Makes one job, or finds the one that its unique key stands for. `born` is the run's job when a run spawns it.
local function create(spec, args, born)
  check_registered(spec.queue, spec.class, spec.known)
  local parent = born or (spec.parent and resolve(spec.parent))
  local same, status = existing_job(spec, parent, args)
  if same then return same, status, true end
  local parent_doc = parent and need(parent)
  local held = spec.joining and kin.joins(parent, parent_doc)
  if parent_doc and parent_doc.terminating and not born then refuse('WRONG_STATUS', 'job ' .. parent .. ' is terminating') end
  local id, doc = next_id(), cjson.decode(spec.tail)
  doc.place, doc.created_at, doc.sequence = 'new', now_text, sequence()
  if doc.tag and not side.of(doc.queue, doc.class) then
    refuse('REFUSED', 'tag: expected a class that pull workers serve, and class ' .. doc.class .. ' of queue ' .. doc.queue .. ' is called', 'tag')
  end
  if args ~= '' then doc.args = args end
  put(docs, id, doc)
  put(dirty, id, true)
  if parent_doc then kin.count_birth(id, doc, parent, parent_doc) end
  if parent_doc then link(parent, parent_doc, spec.name ~= '' and spec.name or id, id, doc) end
  holding.note(id, #spec.tail)
  for _, e in ipairs(spec.values or {}) do set_value(id, doc, e[1], e[2]) end
  holding.check(id, doc)
  for _, e in ipairs(spec.listens or {}) do set_channels(id, doc, e[1], e[2], e[3]) end
  for _, alias in ipairs(spec.aliases or {}) do add_alias(id, doc, alias) end
  for _, e in ipairs(spec.inputs or {}) do write(id, doc, 'i', e[1], e[2], { quiet = true }) end
  for _, e in ipairs(spec.limits or {}) do add_limit(id, doc, unpack(e, 1, 5)) end
  if spec.unique then claim_unique(spec, id, doc) end
  local moment, since = moment_of(spec)
  if moment then change(id, doc, fields.not_before, int(moment)) end
  count(spec.queue, 'made')
  if parent_doc and parent_doc.terminating then
    terminate_now(id, doc)
  elseif held then
    kin.hold(id, doc, parent, parent_doc)
  else
    enqueue(id, doc, nil, since)
  end
  return id, doc.gone or status_of(doc), false
end

-- The job that told of an end has ended itself: the one that it spoke for knows how.
local told_as = { c = 'DELIVERED', f = 'FAILED', T = 'FAILED' }
local function note_told(id, doc, place)
  local told_doc = find(doc.callback_of)
  if told_doc and told_doc.callback_job == id then change(doc.callback_of, told_doc, fields.callback_status, told_as[place]) end
end

-- Callbacks to one destination are a group of their own: one that is slow or down holds up nobody else.
local AT_DESTINATION = '8'
local function join_destination(id, doc, host)
  change(id, doc, fields.group, 'callback:' .. host)
  add_limit(id, doc, 'group:' .. doc.group, 'first', AT_DESTINATION, '', '')
end

-- Tells of an end: a job of our own, made in the same step, so that each end has one and none has two. It holds all
-- that it will say, for the job that it speaks for may be gone by then.
call_back = function(id, doc, place, value)
  if doc.callback_of then return note_told(id, doc, place) end
  local told, n = next_id(), int((tonumber(doc.ends_told) or 0) + 1)
  local args = '{"job":' .. id .. ',"end":' .. n .. ',"queue":' .. cjson.encode(doc.queue) .. ',"class":' .. cjson.encode(doc.class) .. ',"status":"' .. resting[place] .. '","finishedAt":' .. int(now) .. '}'
  local new = fields { queue = 'sidejob', class = 'callback', place = 'new', created_at = int(now), sequence = sequence(), created_by = 'job:' .. id, callback_of = id, callback_end = n }
  put(docs, told, new)
  put(dirty, told, true)
  set_value(told, new, fields.args, args)
  set_value(told, new, fields.callback, get_value(id, doc, fields.callback))
  set_value(told, new, fields.callback_result, value)
  join_destination(told, new, doc.callback_host)
  change(id, doc, fields.ends_told, n)
  change(id, doc, fields.callback_job, told)
  change(id, doc, fields.callback_status, nil)
  count('sidejob', 'made')
  enqueue(told, new)
end

-- What is below a job and too much for one script: a job of our own goes through it (lib/family/branches.lua).
function kin.hand_on(top, act)
  local id = next_id()
  local doc = fields { queue = 'sidejob.bulk', class = 'family', place = 'new', created_at = now_text, sequence = sequence(), created_by = 'job:' .. top, family_top = top, keep_result = '86400000' }
  put(doc, 'i:in', '0,0')
  put(docs, id, doc)
  put(dirty, id, true)
  set_value(id, doc, fields.args, '{"job":' .. top .. ',"action":"' .. act .. '"}')
  count(doc.queue, 'made')
  enqueue(id, doc)
  return id
end

local stopped_by = { fields.failures, fields.lost_in_a_row, fields.backoff_until, fields.ended_at, fields.terminating }

-- The relay of a channel is one job for as long as something is said there now and then; whatever became of it, the
-- next message makes it run again.
relays.hand_over = function(channel, id, items)
  local doc = id and find(id)
  if doc then
    write(id, doc, 'i', 'in', items, { unnoted = true })
    if doc.place ~= 'f' and doc.place ~= 'T' then return end
    for _, field in ipairs(stopped_by) do change(id, doc, field, nil) end
    return enqueue(id, doc, true)
  end
  id = next_id()
  doc = fields { queue = 'sidejob.relay', class = 'relay', place = 'new', sequence = sequence(), args = cjson.encode(channel), quiet = '1', relay_channel = channel, ['i:in'] = '0,0' }
  put(docs, id, doc)
  put(dirty, id, true)
  relays.set_relay(channel, id)
  count(doc.queue, 'made')
  write(id, doc, 'i', 'in', items, { quiet = true, unnoted = true })
  enqueue(id, doc)
end
