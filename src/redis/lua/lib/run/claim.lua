-- Lending jobs to runs: which, under which token, and what the run gets to see.

local RUNS_A_MINUTE = 600

-- Counts a run; false when the job has run too often this minute. Slots that are made up for are no fault of the job's.
local function guard(id, doc)
  if doc.catch_up_at and (tonumber(doc.next_slot) or never) <= now then return true end
  local at_minute, n
  if doc.runs_this_minute then at_minute, n = doc.runs_this_minute:match('^(%d+):(%d+)$') end
  n = at_minute == this_minute and tonumber(n) + 1 or 1
  if n > RUNS_A_MINUTE then return false end
  change(id, doc, fields.runs_this_minute, this_minute .. ':' .. int(n))
  return true
end

local function stop_runaway(id, doc)
  log(id, 'error', cjson.encode({ error = 'Job was terminated due to being called too rapidly' }))
  terminate_one(id, doc)
end

local used_up = { fields.input_during_run, fields.child_during_run, fields.backoff_until, fields.wanted_early, fields.unanswered }
local function lend(id, doc, lease, begun, process)
  for _, field in ipairs(used_up) do
    if doc[field] then change(id, doc, field, nil) end
  end
  if doc.progress then set_value(id, doc, fields.progress, nil) end
  if doc.unique_held == 's' or doc.unique_held == 'b' then free_unique(id, doc) end
  if doc.not_before and tonumber(doc.not_before) <= now then change(id, doc, fields.not_before, nil) end
  if doc.terminating then change(id, doc, fields.terminating, '2') end
  change(id, doc, fields.run_number, doc.run_number or '1')
  change(id, doc, fields.token, tokens.next(id, doc.run_number, doc.repeats and 'r' or ''))
  change(id, doc, fields.lease_until, int(now + lease))
  change(id, doc, fields.lease_length, doc.place == 'p' and int(lease) or nil)
  change(id, doc, fields.process, process)
  change(id, doc, fields.previous_ran_at, doc.ran_at)
  change(id, doc, fields.ran_at, now_text)
  if doc.said_ended_at then change(id, doc, fields.said_ended_at, nil) end
  if doc.redeliver_after then change(id, doc, fields.deliveries, int((tonumber(doc.deliveries) or 0) + 1)) end
  if begun then change(id, doc, fields.begun, '1') end
  move(id, doc, 'l', now + lease)
  if side.is_limited(doc) then take_slots(id, doc) end
  return id
end

-- A job with a tag is lent only to who asks for it.
local function wanted(doc, want)
  return globs.match(doc.class, want.patterns, want.liked) and (not doc.tag or has(want.tags, doc.tag)) and (want.tier == '' or tonumber(doc.priority or 0) == tonumber(want.tier))
end

-- Why a job fails instead of being lent: nobody answered so often, or its class is banned from the queue.
local function given_up(doc, want)
  if doc.max_deliveries and (tonumber(doc.deliveries) or 0) >= tonumber(doc.max_deliveries) then return 'lent ' .. doc.deliveries .. ' times, and nobody answered' end
  local ban = globs.first(doc.class, queue(doc.queue).banned or {}, want.banned)
  if ban then return 'class ' .. doc.class .. ' is banned from queue ' .. doc.queue .. ' by ' .. ban end
end

local function give_up(id, doc, why)
  local error = '{"message":' .. cjson.encode(why) .. ',"reason":"other"}'
  for _, field in ipairs({ fields.next_slot, fields.not_before }) do change(id, doc, field, nil) end
  set_value(id, doc, fields.last_error, error)
  log(id, 'error', error, true)
  finish(id, doc, 'f', error)
end

local MAX_VALUES, MAX_BYTES, FIRST_VALUES = 1000, 1048576, 10
-- Of all ports together, and of the values that stand beside the document: the rest is asked for when it is wanted.
local MAX_INPUTS, MAX_SIDE = 2097152, 2097152

-- The waiting values of a port from the front, or behind some of them, within the bounds of a snapshot.
local function first_values(id, doc, dir, port, n, skip)
  local items, bytes, step = {}, 0, FIRST_VALUES
  n = math.min(n, MAX_VALUES)
  -- A few first, then as many more as would be within the bounds if they are no larger.
  while #items < n do
    local more = lists.now(id, doc, dir, port, math.min(step, n - #items), (skip or 0) + #items)
    for _, item in ipairs(more) do
      bytes = bytes + #item
      if bytes > MAX_BYTES and #items > 0 then return items end
      items[#items + 1] = item
    end
    if #more == 0 then return items end
    step = math.max(1, math.floor((MAX_BYTES - bytes) * #items / bytes))
  end
  return items
end

-- What is in the document itself is not said again. Read once: a claim weighs it before it lends the job.
local inputs_of = {}
local function flat_inputs(id, doc)
  if inputs_of[id] then return inputs_of[id] end
  local flat, bytes = {}, 0
  for _, field in ipairs(attached_to(id, doc)) do
    local dir, port = field:match('^([io]):(.+)$')
    if dir == 'i' and doc[field] and bytes < MAX_INPUTS then
      local pushed, taken = doc[field]:match('^(%d+),(%d+)')
      if pushed ~= taken and not doc['v' .. field] then
        local items = first_values(id, doc, dir, port, tonumber(pushed) - tonumber(taken))
        bytes = bytes + lists.bytes(items)
        flat[#flat + 1] = { port, items }
      end
    end
  end
  inputs_of[id] = flat
  return flat
end

-- Where they are too many, those that come last are left out: their fields still say `^`.
local function flat_side_values(id, doc)
  local fields, keys = {}, {}
  for _, field in ipairs(attached_to(id, doc)) do
    if doc[field] == '^' then
      fields[#fields + 1] = field
      keys[#keys + 1] = side_key(id, 'f:' .. field)
    end
  end
  local flat, bytes = {}, 0
  if (holding.of(doc)) <= MAX_SIDE then fetch(keys) end
  for i, field in ipairs(fields) do
    local text = text_at(keys[i]) or ''
    bytes = bytes + #text
    if bytes > MAX_SIDE then return flat end
    flat[#flat + 1] = field
    flat[#flat + 1] = text
  end
  return flat
end

-- How many bytes the snapshot of a job takes, but for its family.
local function weigh(id, doc)
  local bytes = #(raw[key_of(id)] or '')
  if #attached_to(id, doc) == 0 then return bytes end
  for _, text in ipairs(flat_side_values(id, doc)) do bytes = bytes + #text end
  for _, port in ipairs(flat_inputs(id, doc)) do
    for _, item in ipairs(port[2]) do bytes = bytes + #item end
  end
  return bytes
end

-- One job by its id, if it is ready.
local function claim_one(want)
  local id, doc = want.only, find(want.only)
  if not doc or doc.queue ~= want.queue or (doc.place and doc.place ~= 'p') or (tonumber(doc.lock_until) or 0) > now then return {}, false, 0, 0 end
  return { lend(id, doc, want.lease, true, want.process) }, false, 0, 0
end

-- Jobs that were tagged by older constraints are not lent before they have been tagged anew.
local MAX_STALE = 100

local HEAD, STEP, MAX_SCAN = 100, 100, 1000

-- What the snapshots of one claim hold together, in bytes: who asks for more asks again. The first job comes alone.
local MAX_CLAIM = 4194304

-- With one more, who is in front when all of them have gone.
local function members_at(key, want, from, n)
  local queue_record = queue(want.queue)
  if want.tier == '' or queue_record.ageing or queue_record.reordering then return redis.call('ZRANGE', key, from, from + n) end
  return redis.call('ZRANGEBYSCORE', key, want.tier, want.tier, 'LIMIT', from, n + 1)
end

-- Up to `max` jobs by priority and age. A job that was lost before is lent alone, so that whatever took its run down
-- takes nobody else's with it. Answers the ids, whether it stopped before it had seen everything and where, and how many
-- it failed instead.
-- want: { queue, place ('' or 'p'), max, lease, begun (how many start at once), patterns, tags, tier ('' or a priority),
--   skip (how many members to pass over), process (nil or its name), only ('' or an id), calls (how many of classes that call others, -1: any) }
-- head: the first members, where they have been read already.
local function claim(want, head)
  local place = want.place ~= '' and want.place or nil
  if want.only ~= '' then return claim_one(want) end
  local key, ids, from, failed = queue_key(want.queue, indexes[place] or 'ready'), {}, want.skip, 0
  local called, calling = want.calls >= 0 and queue(want.queue).called_classes or nil, 0
  local choosy, suits_plain, bytes = #want.patterns > 0 or place == 'p', not called and plain.suits(want), 0
  want.liked, want.banned = {}, {}
  while #ids + failed < want.max and from < want.skip + MAX_SCAN do
    local step = head and math.min(HEAD, want.max) or (choosy and STEP or want.max - #ids)
    local members = head or members_at(key, want, from, step)
    head = nil
    if from == 0 and want.tier == '' then tally.heads[key] = members end
    local candidates, texts, others = {}, {}, {}
    for i = 1, math.min(step, #members) do candidates[i] = members[i]:sub(15) end
    fetch_jobs(candidates)
    for i, id in ipairs(candidates) do
      texts[i] = suits_plain and plain.ready(id, members[i])
      if not texts[i] then others[#others + 1] = id end
    end
    fetch_limits(others)
    for i, id in ipairs(candidates) do
      local doc = not texts[i] and find(id)
      if texts[i] then
        ids[#ids + 1] = plain.lend(id, texts[i], members[i], want, #ids < want.begun)
      elseif not doc or doc.place ~= place or member_of(id, doc) ~= members[i] then
        zset(key, members[i], false)
      elseif (tonumber(doc.lock_until) or 0) > now then
        enqueue(id, doc, true)
      elseif not doc.terminating and (doc.constraints_version or '') ~= want.version then
        if #want.stale < MAX_STALE then want.stale[#want.stale + 1] = id end
      elseif globs.steps <= 0 then
        return ids, true, from + i - 1, failed
      elseif wanted(doc, want) then
        if doc.lost_in_a_row and #ids > 0 then return ids, true, from, failed end
        if called and called[doc.class] then
          if calling == want.calls then return ids, true, from, failed end
          calling = calling + 1
        end
        local full = side.is_limited(doc) and first_full(doc)
        local why = not doc.terminating and given_up(doc, want)
        if why then
          give_up(id, doc, why)
          failed = failed + 1
        elseif full then
          set_aside(id, doc, full)
        elseif not doc.terminating and not guard(id, doc) then
          stop_runaway(id, doc)
        else
          -- What cannot be weighed cannot be shown either, and is found out then.
          local weighed, weight = pcall(weigh, id, doc)
          bytes = bytes + (weighed and weight or 0)
          if bytes > MAX_CLAIM and #ids > 0 then return ids, true, from, failed end
          ids[#ids + 1] = lend(id, doc, place and tonumber(doc.redeliver_after_ms) or want.lease, #ids < want.begun, want.process)
          if doc.lost_in_a_row then return ids, true, from, failed end
        end
      end
      if #ids + failed == want.max then return ids, true, from, failed end
    end
    if #candidates < step then return ids, #want.stale > 0, from, failed end
    from = from + #candidates
  end
  return ids, true, from, failed
end

-- The job that tells of the last end, as text with its last error; nothing when there is none.
local function callback_of(doc)
  local callback = doc.callback_job and find(doc.callback_job)
  if not callback then return {} end
  return { text_at(key_of(doc.callback_job)), get_value(doc.callback_job, callback, fields.last_error) or '' }
end

local MAX_CHILDREN = 1000
local function flat_children(id, doc)
  if not doc.has_children then return {}, 0 end
  local key = children_key(id)
  local scanned = redis.call('HSCAN', key, 0, 'COUNT', MAX_CHILDREN)
  if scanned[1] == '0' then return scanned[2], #scanned[2] / 2 end
  local total = redis.call('HLEN', key)
  return total > MAX_CHILDREN and scanned[2] or redis.call('HGETALL', key), total
end

-- How an ended child ended, and what it left: its result, or its error.
local function legacy(id, doc)
  local kept = doc.keep_result and result.of(id)
  if doc.place == 'c' then return 'finished', kept and kept:match('^[^\n]*\n[^\n]*\n(.*)$') or '' end
  if doc.place == 'f' then return 'failed', get_value(id, doc, fields.last_error) or '' end
  return 'cancelled', ''
end

local MAX_FAMILY = 8388608

-- The children that have ended, for a parent that has waited for them: name, id, class, how, args, what each left.
-- One that pauses for some is told of those.
local function flat_family(parent, doc, children)
  if not doc.wait_over and not doc.awaited_children then return {} end
  local names, ids = {}, {}
  local function see(name, entry)
    local id, status = (entry or ''):match('^(%d+),(%a+),')
    if not ends[status] then return end
    ids[#ids + 1] = id
    names[id] = name
  end
  if doc.awaited_children then
    local awaited = cjson.decode(doc.awaited_children)
    hfetch(children_key(parent), awaited)
    for _, name in ipairs(awaited) do see(name, hget(children_key(parent), name)) end
  else
    for i = 1, #children, 2 do see(children[i], children[i + 1]) end
  end
  table.sort(ids, function(a, b) return tonumber(a) < tonumber(b) end)
  fetch_jobs(ids)
  local rows, bytes = {}, 0
  for _, id in ipairs(ids) do
    local child_doc = find(id)
    if child_doc then
      local how, left = legacy(id, child_doc)
      bytes = bytes + #left + #(get_value(id, child_doc, fields.args) or '')
      if bytes > MAX_FAMILY then refuse('TOO_LARGE', 'what the children of job ' .. parent .. ' were given and left is more than 8 MiB together') end
      rows[#rows + 1] = { names[id], id, child_doc.class, how, get_value(id, child_doc, fields.args) or '', left }
    end
  end
  return rows
end

local function flat_port(id, doc, name, field, closely)
  local dir, port = field:match('^([io]):(.+)$')
  if not dir or port == '*' or doc[field]:find('d', 1, true) then return nil end
  local wires, default = doc['w' .. field], doc['d' .. field]
  local pushed, taken = doc[field]:match('^(%d+),(%d+)')
  local idle = not wires and (pushed == taken or (name == '' and not closely)) and not (default and dir == 'o' and name ~= '')
  if idle then return nil end
  local row = { name, dir, port, int(pushed - taken), default and '1' or '', wires or '' }
  if closely then
    row[7] = pushed ~= taken and lists.now(id, doc, dir, port, 1)[1] or ''
    row[8] = doc['m' .. field] or ''
  end
  return row
end

-- The wires of a follower and what waits at them: its own ports with wires, and the ports of its children with wires,
-- values or a default: child ('' for its own), side, port, size, '1' with a default, where the wires go. Closely: also
-- its own ports with values, the oldest value of each, and what went over its wires.
local function flat_wires(id, doc, children, closely)
  local rows, ids = {}, {}
  local function add(name, of_id, of)
    for field in pairs(of) do rows[#rows + 1] = flat_port(of_id, of, name, field, closely) end
  end
  for i = 2, #children, 2 do ids[#ids + 1] = children[i]:match('^%d+') end
  fetch_jobs(ids)
  add('', id, doc)
  for i = 1, #children, 2 do
    local child_id = children[i + 1]:match('^%d+')
    local child = find(child_id)
    if child then add(children[i], child_id, child) end
  end
  return rows
end

-- A function's own list of steps is short. A long one comes when it is asked for, lest every run pays for all before it.
local MAX_STEPS, MAX_STEP_BYTES = 100, 65536
local function flat_steps(id, doc)
  if not doc.has_steps then return {}, '' end
  local scanned = redis.call('HSCAN', side_key(id, 'steps'), 0, 'COUNT', MAX_STEPS)
  local flat, bytes = scanned[2], 0
  for _, text in ipairs(flat) do bytes = bytes + #text end
  if scanned[1] ~= '0' or #flat > 2 * MAX_STEPS or bytes > MAX_STEP_BYTES then return {}, 'more' end
  return flat, ''
end

-- What a run sees, after everything has been written: the document as text, and what stands beside it.
local function snapshot(id)
  if plain.text(id) then return { raw[key_of(id)] } end
  local doc = find(id)
  if not doc.has_children and not doc.has_steps and #attached_to(id, doc) == 0 then return { raw[key_of(id)] } end
  local steps, more_steps = flat_steps(id, doc)
  local children, total = flat_children(id, doc)
  return { raw[key_of(id)], flat_inputs(id, doc), flat_side_values(id, doc), children, steps, total, flat_family(id, doc, children), doc.followed and flat_wires(id, doc, children) or {}, more_steps }
end

-- What each of these runs sees. Where that cannot be had it is a fault of this run alone: its document, and why.
local function snapshots(ids)
  local list = {}
  for i, id in ipairs(ids) do
    local ok, found = work.isolate(id, snapshot, id)
    list[i] = ok and found or { raw[key_of(id)], {}, {}, {}, {}, 0, {}, {}, '', found.code .. ' ' .. found.message }
  end
  return list
end

local function with_documents(ids)
  local rows = {}
  for i, id in ipairs(ids) do rows[i] = { id, raw[key_of(id)], flat_side_values(id, find(id)) } end
  return rows
end
