-- If no other job is ready, new jobs are leased to the lane of the caller's invocation, or to the warm lane.

local function written_to(index)
  local rows, members = {}, {}
  for member, score in pairs(cache.writes.zsets[index] or {}) do
    rows[#rows + 1] = score and { member, score } or nil
  end
  tables.sort_by_score(rows)
  for i, row in ipairs(rows) do members[i] = row[1] end
  return members
end

local function lend_new(q, want)
  local index = redis_keys.queue(q, 'ready')
  local members = written_to(index)
  want.queue, want.place, want.only, want.tier, want.skip, want.wide, want.patterns, want.tags, want.stale = q, '', '',
    '', 0, 0, {}, {}, {}
  local got = claim.jobs(want, members)
  for _, member in ipairs(members) do
    if not cache.writes.zsets[index][member] then journal.put(cache.writes.zsets[index], member, nil) end
  end
  if got.n > 0 then counts.waited(q, 0, got.n) end
  return got.ids
end

local function only_queue(lane)
  local q = next(lanes.to_ring)
  if lane.name == '' or not q or next(lanes.to_ring, q) or cache.queue(q).paused or not lanes.has_room(q) then
    return nil
  end
  return tally.is_empty(q, 'ready') and q or nil
end

function eager.begin_lane(lane)
  local q = only_queue(lane)
  if not q then return {} end
  local most = math.min(lane.batch, cache.queue(q).batch or lanes.BATCH)
  local ids = lend_new(q,
    { lane = lane.name, calls = -1, max = most, lease = lane.lease, begun = lane.begun, version = lane.version })
  if #ids == 0 then return ids end
  lanes.set(q, lane.name, time.now + lane.lease)
  cache.set_text(lanes.key(lane.name), lanes.record_of(1, 'ok', {}, ids))
  return ids
end

local called = {} -- lane → jobs that were leased to it

local function hand_over(q, version)
  local index = redis_keys.queue(q, 'ready')
  local members = written_to(index)
  local lane = #members > 0 and tally.is_empty(q, 'ready') and standby.lane_for(q, #members)
  if not lane then return end
  for _, member in ipairs(members) do
    if pieces.number_in(member) then return end
  end
  tokens.of_lane(lane)
  local ids = lend_new(q, { lane = lane, calls = 0, max = #members, lease = lanes.BELL, begun = 0, version = version })
  if #ids == 0 then return end
  standby.hand(q, lane, tokens.of(ids))
  called[lane] = ids
  local left = #written_to(index)
  journal.put(lanes.to_ring, q, left > 0 and left or nil)
end

function eager.hand_over(version)
  local names = {}
  for q in pairs(lanes.to_ring) do names[#names + 1] = q end
  for _, q in ipairs(names) do hand_over(q, version) end
end

local MAX_CALL_BYTES = 32768

local function call_text(ids)
  local words, bytes = { 'lent' }, 0
  for i, row in ipairs(claimed.rows(ids)) do
    bytes = bytes + #row[1]
    if bytes > MAX_CALL_BYTES or not snapshot.is_plain(row) then return 'ready' end
    words[i + 1] = row[1]
  end
  return table.concat(words, '\t')
end

function eager.call_lanes()
  for lane, ids in pairs(called) do redis.call('PUBLISH', ns .. 'call:' .. lane, call_text(ids)) end
end
