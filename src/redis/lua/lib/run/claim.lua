local function wanted(doc, want)
  return globs.match(doc.class, want.patterns, want.liked) and (not doc.tag or tables.has(want.tags, doc.tag))
    and (want.tier == '' or tonumber(doc.priority or 0) == tonumber(want.tier))
end

local MAX_STALE = 100

claim.HEAD = 100
local STEP = 100
local MAX_SCAN = 1000

claim.MOST = 4194304 -- maximum bytes of all snapshots of a claim

local function members_at(key, want, from, n)
  local queue_record = cache.queue(want.queue)
  if want.tier == '' or queue_record.ageing or queue_record.reordering then
    return redis.call('ZRANGE', key, from, from + n)
  end
  return redis.call('ZRANGEBYSCORE', key, want.tier, want.tier, 'LIMIT', from, n + 1)
end

local function members_for(want, jobs)
  local ready, packed = tally.known(cache.queue(want.queue), 'ready')
  if want.place ~= '' or packed <= 0 or ready <= packed then return jobs end
  return math.min(jobs, math.ceil(jobs * (ready - packed) / ready) + 1)
end

-- Returns lists, because tables with named fields are slow in some Lua engines.
function claim.first_of(members, most, room, wide)
  local keys, numbers, ids, n = {}, {}, {}, 0
  for i = 1, math.min(most, #members) do
    local member = members[i]
    local number = pieces.number_in(member)
    if n >= (number and math.max(room, wide) or room) then return keys, numbers, ids end
    numbers[i] = number or false
    if number then
      keys[i] = redis_keys.piece(number)
    else
      local id = member:sub(15)
      ids[#ids + 1] = id
      keys[i] = ns .. 'job:' .. id
    end
    n = n + (number and pieces.SIZE or 1)
  end
  return keys, numbers, ids
end

local function has_all(want, got) return got.n + got.failed >= want.max end

local function is_stale(doc, want) return not doc.terminating and (doc.constraints_version or '') ~= want.version end

local function room_of(want, got)
  local room = want.max - got.n - got.failed
  if got.n < want.begun then room = math.min(room, want.begun - got.n) end
  return math.max(room, want.wide - got.n - got.failed)
end

local function consider_piece(member, number, want, got)
  local piece = cache.piece(number)
  if not piece or pieces.entry(number, piece) ~= member then return cache.zset(got.key, member, false) end
  local doc, room = cache.common_of(piece), room_of(want, got)
  if got.room then return 'stop' end
  if globs.steps <= 0 then return 'later' end
  if not wanted(doc, want) or (is_stale(doc, want) and #want.stale == MAX_STALE) then return end
  if not (got.called and got.called[doc.class]) and packed.suits(want, number, piece, room) then
    packed.lend(number, piece, want, got.n < want.begun)
    got.ids[#got.ids + 1] = 'p' .. number
    got.n = got.n + piece.n
    return got.n + got.failed >= math.max(want.max, want.wide) and 'stop' or nil
  end
  if has_all(want, got) or (piece.n > room and 2 * got.n >= want.max) then return 'stop' end
  for _, id in ipairs(pieces.ids(number, piece)) do
    local doc = cache.find(id)
    if not doc then return cache.zset(got.key, member, false) end
    local ends = claim.consider(id, doc, want, got)
    if ends then return ends end
  end
end

local function each(consider, member, at, want, got)
  if not want.careful then return consider(member, at, want, got) end
  return alone.act(got.key, member, consider, member, at, want, got)
end

function claim.finds_nothing(q)
  for _, score in pairs(cache.writes.zsets[redis_keys.queue(q, 'ready')] or {}) do
    if score then return false end
  end
  return tally.is_empty(q, 'ready')
end

local function go_through(want, head, got)
  local from, removed, choosy = want.skip, 0, #want.patterns > 0 or want.place == PLACE.pull
  local most = math.max(want.max, want.wide)
  while got.n + got.failed < most and from < want.skip + MAX_SCAN do
    local step = head and math.min(claim.HEAD, want.max) or (choosy and STEP or members_for(want, most - got.n))
    local members = head or members_at(got.key, want, from, step)
    head = nil
    if from == 0 and want.tier == '' then tally.heads[got.key] = members end
    local keys, numbers, ids = claim.first_of(members, step, choosy and STEP or want.max - got.n, want.wide - got.n)
    if #keys == 0 then return #members > 0 or #want.stale > 0, from - removed, removed end
    cache.fetch(keys)
    sides.fetch_limits_of(ids)
    local nth = 0
    for i = 1, #keys do
      local ends
      if numbers[i] then
        ends = each(consider_piece, members[i], numbers[i], want, got)
      else
        nth = nth + 1
        ends = each(claim.consider_job, members[i], ids[nth], want, got)
      end
      local written = cache.writes.zsets[got.key]
      local gone = written and written[members[i]] == false and 1 or 0
      if ends then return true, from + i - 1 - removed, removed + gone end
      removed = removed + gone
    end
    if #keys == #members and #members <= step then return #want.stale > 0, from - removed, removed end
    from = from + #keys
  end
  return true, from - removed, removed
end

-- Suspects (see `suspects_for`) and other jobs take turns.
-- want.wide: maximum jobs in pieces. want.begun: number of jobs that start immediately. want.calls: maximum jobs of
-- classes that call other services (-1: any). got.seen: number of index entries that the next claim may skip.
function claim.jobs(want, head)
  if outbox.is_full() then return claim.nothing() end
  if want.only ~= '' then return claim.one(want) end
  local q, served = want.queue, cache.queue(want.queue).suspects_served
  local got = { key = redis_keys.queue(q, states.index(want.place)), ids = {}, n = 0, failed = 0,
    bytes = 0, calling = 0, called = want.calls >= 0 and cache.queue(q).called_classes or nil, fresh_first = served,
    passed = {} }
  want.liked, want.banned = {}, {}
  local more, seen, removed = go_through(want, head, got)
  local passed = got.passed
  if got.n == 0 and served and passed[1] then
    got.fresh_first, got.passed = nil, {}
    for i = 1, #passed do
      if claim.consider(passed[i], cache.find(passed[i]), want, got) then break end
    end
  end
  local serves = got.room and 1 or nil
  if got.n > 0 and served ~= serves then cache.change_queue(q, queue_fields.suspects_served, serves) end
  if passed[1] then more, seen = true, want.skip end
  got.more = more
  got.seen = more and (seen > want.skip or removed > 0) and seen or nil
  return got
end

local RUNS_A_MINUTE = 600

local function guard(id, doc)
  if doc.catch_up_at and (tonumber(doc.next_slot) or numbers.never) <= time.now then return true end
  local minute, n = leases.run_count(doc)
  n = tonumber(minute) == time.minute and n + 1 or 1
  if n > RUNS_A_MINUTE then return false end
  cache.change(id, doc, fields.runs_this_minute, time.minute .. ':' .. n)
  return true
end

local used_up = { fields.input_during_run, fields.child_during_run, fields.backoff_until, fields.wanted_early,
  fields.unanswered, fields.said_ended_at }

local function lend(id, doc, lease, begun, process)
  cache.clear(id, doc, used_up)
  values.set_value(id, doc, fields.progress, nil)
  if doc.unique_held == UNIQUE_HELD.until_started or doc.unique_held == UNIQUE_HELD.debounced then
    unique.free(id, doc)
  end
  if doc.not_before and tonumber(doc.not_before) <= time.now then cache.change(id, doc, fields.not_before, nil) end
  if doc.terminating then cache.change(id, doc, fields.terminating, TERMINATING.shutdown) end
  if not doc.run_number then cache.change(id, doc, fields.run_number, '1') end
  cache.change(id, doc, fields.token, tokens.next(id, doc.run_number, doc.repeats and 'r' or ''))
  cache.change(id, doc, fields.lease_until, time.now + lease)
  cache.change(id, doc, fields.lease_length, doc.place == PLACE.pull and lease or nil)
  cache.change(id, doc, fields.process, process)
  cache.change(id, doc, fields.previous_ran_at, doc.ran_at)
  cache.change(id, doc, fields.ran_at, time.now_text)
  if doc.redeliver_after then cache.count(id, doc, fields.deliveries) end
  if begun then cache.change(id, doc, fields.begun, '1') end
  places.move(id, doc, PLACE.leased, time.now + lease)
  if sides.is_limited(doc) then limits.take_slots(id, doc) end
  return id
end

local function given_up(doc, want)
  if doc.max_deliveries and (tonumber(doc.deliveries) or 0) >= tonumber(doc.max_deliveries) then
    return 'delivered ' .. doc.deliveries .. ' times without an answer'
  end
  local ban = globs.first(doc.class, cache.queue(doc.queue).banned or {}, want.banned)
  if ban then return 'class ' .. doc.class .. ' is banned from queue ' .. doc.queue .. ' by ' .. ban end
end

function claim.nothing() return { ids = {}, n = 0, failed = 0, more = false } end

function claim.one(want)
  local id, doc, got = want.only, cache.find(want.only), claim.nothing()
  if doc and doc.queue == want.queue and states.is_ready(doc) and not states.is_locked(doc) then
    got.ids[1] = lend(id, doc, want.lease, true, want.process)
    got.n = 1
  end
  return got
end

local function weight_of(id, doc)
  if not cache.attached_to(id, doc)[1] then return #cache.document(id) end
  local weighed, weight = pcall(snapshot.weigh, id, doc)
  return weighed and weight or 0
end

-- A suspect is a job whose last run was lost, because this run may also have crashed the runs of other jobs. A claim
-- takes few suspects, so that all of them start immediately. A suspect that is lost a second time is claimed alone.
local function suspects_for(doc, want)
  if tonumber(doc.lost_in_a_row) > 1 then return 1 end
  return math.max(1, math.floor(math.min(want.max, want.begun) / 2))
end

local MAX_PASSED = 200

local function keeps_apart(id, doc, want, got)
  if not doc.lost_in_a_row then return got.room and 'stop' end
  if got.fresh_first or (got.n > 0 and not got.room) then
    got.passed[#got.passed + 1] = id
    return #got.passed < MAX_PASSED and 'pass' or 'stop'
  end
  return got.n >= math.min(got.room or numbers.never, suspects_for(doc, want)) and 'stop'
end

function claim.consider(id, doc, want, got)
  if states.is_locked(doc) then return queueing.enqueue(id, doc, true) end
  if is_stale(doc, want) then
    if #want.stale < MAX_STALE then want.stale[#want.stale + 1] = id end
    return
  end
  if globs.steps <= 0 then return 'later' end
  if not wanted(doc, want) then return end
  local apart = keeps_apart(id, doc, want, got)
  if apart then return apart == 'stop' and apart or nil end
  if got.called and got.called[doc.class] then
    if got.calling == want.calls then return 'stop' end
    got.calling = got.calling + 1
  end
  local full = sides.is_limited(doc) and limits.first_full(doc)
  local why = not doc.terminating and given_up(doc, want)
  if why then
    local error = '{"message":' .. cjson.encode(why) .. ',"reason":"other"}'
    log.line(id, 'error', error, doc)
    ending.fail(id, doc, error)
    got.failed = got.failed + 1
  elseif full then
    waiting.set_aside(id, doc, full)
  elseif not doc.terminating and not guard(id, doc) then
    log.line(id, 'error', cjson.encode({ error = 'Job was terminated due to being called too rapidly' }))
    ending.terminate_one(id, doc)
  else
    got.bytes = got.bytes + weight_of(id, doc)
    if got.bytes > claim.MOST and #got.ids > 0 then return 'stop' end
    got.ids[#got.ids + 1] =
      lend(id, doc, want.place == PLACE.pull and tonumber(doc.redeliver_after_ms) or want.lease, got.n < want.begun,
      want.process)
    got.n = got.n + 1
    if doc.lost_in_a_row then got.room = math.min(got.room or numbers.never, suspects_for(doc, want)) end
  end
  if has_all(want, got) then return 'stop' end
end

function claim.consider_job(member, id, want, got)
  local doc = cache.find(id)
  if not doc or (doc.place or '') ~= want.place or places.member_of(id, doc) ~= member then
    return cache.zset(got.key, member, false)
  end
  return claim.consider(id, doc, want, got)
end

function claim.still_claimed(list)
  local ids = {}
  for _, token in ipairs(list) do
    local number, under = token:match('^p(%d+)%.(.*)$')
    local id = token:match('^p?%d+')
    local doc = not number and cache.find(id)
    if (doc and doc.token == token) or (number and packed.claimed(number, under)) then ids[#ids + 1] = id end
  end
  return ids
end

function claim.add_lent(ids, list)
  for _, id in ipairs(claim.still_claimed(list)) do
    local doc = cache.find(id)
    tokens.begun[id] = doc.token
    ids[#ids + 1] = id
  end
end

function claim.is_overtaken()
  if next(cache.loose) or next(cache.writes.lists) then return true end
  for key in pairs(cache.writes.zsets) do
    local of = redis_keys.counted[key]
    if not of or of[2] == 'ready' or of[2] == 'ready:pull' then return true end
  end
  return false
end
