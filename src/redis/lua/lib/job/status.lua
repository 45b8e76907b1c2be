-- Where a job is. It is in exactly one place, its status follows from the place, and only `move` changes it.
-- Places: nil = ready, p = ready:pull, t = timers, l = leases, w = waiting at a limit, s c f T: at rest.

local resting = { s = 'suspended', c = 'completed', f = 'failed', T = 'terminated' }
local indexes = { p = 'ready:pull', t = 'timers', l = 'leases', s = 'suspended', c = 'completed', f = 'failed', T = 'terminated' }
local ends = { completed = true, failed = true, terminated = true }

local function status_of(doc)
  if resting[doc.place] then return resting[doc.place] end
  if doc.terminating then return 'terminating' end
  return doc.place == 'l' and 'running' or 'queued'
end

local function index_of(doc)
  if doc.place == 'w' then return ns .. 'limit-waiting:' .. doc.waiting_limit end
  return queue_key(doc.queue, indexes[doc.place] or 'ready')
end
local function member_of(id, doc)
  if doc.place == 'w' then return (order.turn_at(doc, doc.waiting_limit) or doc.sequence) .. ':' .. id end
  if not doc.place or doc.place == 'p' then return doc.sequence .. ':' .. id end
  return id
end

-- Where a job waits to be lent: on the side of pull workers (p), or of lanes (nil). As the queue says now, whenever it was
-- made. One with a tag goes to who asks for that, and lanes ask for none.
local side = {}
function side.of(q, class, tag)
  local queue_record = queue(q)
  return (tag or queue_record.mode == 'pull' or (queue_record.pulled_classes and queue_record.pulled_classes[class])) and 'p' or nil
end

-- The limit that all jobs of its class count against, whenever they were made: its worker's own concurrency. The queue
-- says which of its classes have one.
function side.worker_limit(q, class) return 'worker:' .. q .. '/' .. class end
function side.own_limit(doc)
  local bounded = queue(doc.queue).bounded_classes
  return bounded and bounded[doc.class] and side.worker_limit(doc.queue, doc.class) or nil
end
function side.is_limited(doc) return not doc.terminating and (doc.limits or side.own_limit(doc)) ~= nil end

local to_ring = {} -- queue → how many jobs became ready
local to_call = {} -- queue → classes that became ready for pull workers
local function soonest(q, field, moment)
  local known = queue(q)[field]
  if not known or moment < known then change_queue(q, field, moment) end
end

local tell_status -- set by channels: says a new status to whoever listens

-- What a status of a child is to a job that follows its children: busy, suspended, completed, or broken.
local flows = { moved = {} } -- of those who follow their children: follower → 'turned' when one broke or was mended, else 'moved'
flows.kinds = { queued = 'b', running = 'b', terminating = 'b', suspended = 's', completed = 'c', failed = 'x', terminated = 'x' }

-- Counts a child of a follower anew; `is` is nil for one that leaves the family. It remembers what it was counted as.
function flows.count(id, doc, parent, is)
  local was, above_doc = doc.followed_as, find(parent)
  if was == is or not above_doc or not above_doc.followed then return end
  local n = {}
  n.b, n.s, n.x = above_doc.followed:match('^(%d+),(%d+),(%d+)$')
  if n[was] then n[was] = int(n[was] - 1) end
  if n[is] then n[is] = int(n[is] + 1) end
  change(parent, above_doc, fields.followed, n.b .. ',' .. n.s .. ',' .. n.x)
  change(id, doc, fields.followed_as, is)
  local turned = was == 'x' or is == 'x'
  if turned or not flows.moved[parent] then put(flows.moved, parent, turned and 'turned' or 'moved') end
end

local function tell_parent(id, doc, status)
  if not doc.parent or status == 'running' then return end
  if doc.followed_as then flows.count(id, doc, doc.parent, flows.kinds[status]) end
  hset(side_key(doc.parent, 'children'), doc.child_name, id .. ',' .. status .. ',' .. doc.class)
end

-- Who waits for its end is called once: as long as the job says that somebody does.
local function call_watchers(id, doc, is)
  if not doc.waited_until or not ends[is] then return end
  if tonumber(doc.waited_until) > now then push(writes.messages, { ns .. 'ended:' .. id, is }) end
  change(id, doc, fields.waited_until, nil)
end

local function announce(id, doc, was)
  local is = status_of(doc)
  if is == was then return end
  tell_parent(id, doc, is)
  tell_status(id, doc, is)
  call_watchers(id, doc, is)
end

-- Set by limits: slots of a run, the reserved room of a job that is ready, the jobs of a group that are not at rest.
local release_slots, renew_slots, drop_baton, count_in_group, first_full, set_aside

-- Its place in the order of those who are ready, and none yet among those who wait at limits. The first one also says when
-- the job was made.
local function queue_up(id, doc, since)
  if not doc.created_at then change(id, doc, fields.created_at, int(moment_of_sequence(doc.sequence))) end
  change(id, doc, fields.sequence, since and sequence_of(since, id) or sequence())
  change(id, doc, fields.turns, nil)
end

local function leave_place(id, doc, is_let_through)
  zset(index_of(doc), member_of(id, doc), false)
  if doc.place == 'w' then
    change_queue(doc.queue, queue_fields.at_limits, (queue(doc.queue).at_limits or 0) - 1)
    order.leave_turn(doc, is_let_through)
  end
  if doc.reserved_limit and (not doc.place or doc.place == 'p') then drop_baton(id, doc) end
end

-- The indexes in Redis follow the document; `moment` is what time indexes are ordered by. `key` is the limit that a job is
-- set aside for; one that comes back from there keeps its sequence. `since`: when it became due.
local function move(id, doc, place, moment, key, keeps, since)
  local was = docs[id] and doc.place ~= 'new' and status_of(doc)
  local rested = not was or resting[doc.place] ~= nil
  if was then leave_place(id, doc, keeps) end
  if (not place or place == 'p') and not keeps then queue_up(id, doc, since) end
  if doc.group and rested ~= (resting[place] ~= nil) then count_in_group(doc, rested and 1 or -1) end
  if doc.quota_bytes and rested ~= (resting[place] ~= nil) then quota.count(doc, rested and 1 or -1) end
  put(doc, fields.waiting_limit, key)
  if key then order.take_turn(id, doc, key) end
  put(doc, fields.place, place)
  put(dirty, id, true)
  zset(index_of(doc), member_of(id, doc), moment or order.score(doc))
  if not place then put(to_ring, doc.queue, (to_ring[doc.queue] or 0) + 1) end
  if place == 'p' then push(within(to_call, doc.queue), doc.class) end
  if place == 'w' then change_queue(doc.queue, queue_fields.at_limits, (queue(doc.queue).at_limits or 0) + 1) end
  if place == 't' then soonest(doc.queue, queue_fields.next_timer, moment) end
  if place == 'l' then soonest(doc.queue, queue_fields.next_lease, moment) end
  if resting[place] and moment ~= never then soonest(doc.queue, queue_fields.next_removal, moment) end
  announce(id, doc, was)
end

-- When its next slot may run. Pull workers pace what is made up for by asking.
local function slot_moment(doc)
  local slot = tonumber(doc.next_slot) or never
  return doc.catch_up_at and not side.of(doc.queue, doc.class, doc.tag) and math.max(slot, tonumber(doc.catch_up_at)) or slot
end

-- Queues a job: at once, or at the one moment that decides. A backoff and a lock hold against everything; `at` and
-- the next slot of a repeat only as long as nobody wants it earlier. Pull workers get what was due first:
-- `since` says when, where no moment of its own does.
local function enqueue(id, doc, early, since)
  early = early or doc.wanted_early
  local moment = 0
  if not early and not doc.terminating then
    moment = math.min(tonumber(doc.not_before) or never, slot_moment(doc), tonumber(doc.sleep_until) or never)
    if moment == never then moment = 0 end
  end
  moment = math.max(moment, tonumber(doc.backoff_until) or 0, tonumber(doc.lock_until) or 0)
  if moment > now then
    if early then change(id, doc, fields.wanted_early, '1') end
    return move(id, doc, 't', moment)
  end
  local full = side.is_limited(doc) and first_full(doc)
  if full then return set_aside(id, doc, full) end
  local place = side.of(doc.queue, doc.class, doc.tag)
  move(id, doc, place, nil, nil, nil, place and (moment > 0 and moment or since))
end

-- Its next run is told what became of its children.
local function stop_waiting(id, doc)
  if not doc.waits_for then return end
  change(id, doc, fields.wait_over, '1')
  change(id, doc, fields.waits_for, nil)
  change(id, doc, fields.waits_for_count, nil)
  put(writes.sets, side_key(id, 'waiting'), nil)
  del(side_key(id, 'waiting'))
end

-- A run without force. 'own' is input or a request; 'child' is news from below, which a job that waits for the end of
-- its children does not want, nor a child that is held. Answers whether the job will run for it.
local function wake(id, doc, why)
  if doc.terminating or doc.held or doc.place == 'f' or doc.place == 'T' then return false end
  if doc.place == 'l' then
    change(id, doc, why == 'child' and fields.child_during_run or fields.input_during_run, '1')
  elseif doc.place == 't' then
    enqueue(id, doc, true)
  elseif doc.slot_missed then
    change(id, doc, fields.slot_missed, nil)
  elseif doc.place == 's' or doc.place == 'c' then
    if why == 'child' and doc.waits_for then return false end
    stop_waiting(id, doc)
    enqueue(id, doc, true)
  end
  return true
end

local settled = {} -- parent → children that have ended, for those who count them
local function wake_parent(id, doc, has_ended)
  if not doc.parent then return end
  local parent_doc = find(doc.parent)
  if not parent_doc then return end
  if parent_doc.followed then
    -- News only for one whose run ends otherwise than by following.
    if parent_doc.place == 'l' and not parent_doc.child_during_run then change(doc.parent, parent_doc, fields.child_during_run, '2') end
    return
  end
  if has_ended then push(within(settled, doc.parent), id) end
  if parent_doc.awaited_children and not has_ended then return end
  wake(doc.parent, parent_doc, 'child')
end

-- Which of the children are in the set: as Redis has it, with what this script adds.
local function waited_for(key, children)
  local among, new = {}, writes.sets[key] or {}
  for from = 1, #children, 2400 do
    local piece = lists.slice(children, from, from + 2399)
    local known = writes.dels[key] and {} or redis.call('SMISMEMBER', key, unpack(piece, 1, #piece))
    for i, child in ipairs(piece) do among[from + i - 1] = new[child] or known[i] == 1 end
  end
  return among
end

-- Takes the ended children off the sets of those who wait for them, and wakes whoever has none left.
table.insert(consequences, function()
  local did = next(settled) ~= nil
  for parent, children in pairs(settled) do
    local doc = find(parent)
    if doc and doc.waits_for then
      local key, left = side_key(parent, 'waiting'), tonumber(doc.waits_for_count)
      local among = waited_for(key, children)
      for i, child in ipairs(children) do
        if among[i] and not (writes.sets[key] and writes.sets[key][child] == false) then
          sset(key, child, false)
          left = left - 1
        end
      end
      change(parent, doc, fields.waits_for_count, int(left))
      if left <= 0 then
        stop_waiting(parent, doc)
        if doc.place == 's' then enqueue(parent, doc, true) end
      end
    end
  end
  settled = {}
  return did
end)

local DAY = 86400000
local FAILED_FOR = 30 * DAY

local function has_inputs(id, doc)
  for _, field in ipairs(attached_to(id, doc)) do
    if field:sub(1, 2) == 'i:' and doc[field] and not doc[field]:find('d', 1, true) then return true end
  end
  return false
end

-- When a job at rest may go: never while data can still wake it.
local function removal(id, doc, place)
  if has_inputs(id, doc) and not doc.relay_channel and not doc.family_top then return never end
  if place == 'f' then return now + (tonumber(doc.retain_failed) or FAILED_FOR) end
  return now + (tonumber(doc.retain) or DAY)
end

local function free_unique(id, doc, deleted)
  if not doc.unique_scope or (doc.unique_held == '1' and not deleted) then return end
  local key = ns .. 'unique:' .. doc.unique_scope
  if text_at(key) == id then
    put(raw, key, false)
    set_text(key, nil)
    del(key)
  end
end

local erase -- set by family: removes every trace of a job

-- A result as text: how it ended; when, until when it is kept, and what the worker says of when; the value.
local result = { c = 'success', f = 'failure', T = 'failure' }
function result.keep(id, doc, place, value)
  if not doc.keep_result then return end
  local times = now_text .. ' ' .. int(now + tonumber(doc.keep_result)) .. (doc.said_ended_at and ' ' .. doc.said_ended_at or '')
  set_expiring(ns .. 'result:' .. id, result[place] .. '\n' .. times .. '\n' .. value, tonumber(doc.keep_result))
end
function result.of(id)
  local text = text_at(ns .. 'result:' .. id)
  return text and tonumber((text:match('^%a+\n%d+ (%d+)'))) > now and text
end

-- What steps have done counts until the job has got beyond them: not when a run failed, nor when the job did.
local function clear_steps(id, doc)
  change(id, doc, fields.sleep_until, nil)
  change(id, doc, fields.awaited_children, nil)
  if not doc.has_steps then return end
  put(writes.hashes, side_key(id, 'steps'), nil)
  del(side_key(id, 'steps'))
  holding.lose(id, doc)
  change(id, doc, fields.has_steps, nil)
end

local delete_marked -- set by family: deletes the tree that only waited for this job to end
local let_children_go -- set by family: children that are held for the end of its run may run, or are cancelled

local call_back -- set by create: tells of this end whoever is to be told

-- What had ended before it was terminated has been told of, and has left its result: that is no other end.
local function leave_word(id, doc, place, value)
  local is_known = doc.end_was_told or (place == 'T' and ends[resting[doc.place]])
  if doc.end_was_told then change(id, doc, fields.end_was_told, nil) end
  if is_known then return end
  result.keep(id, doc, place, value)
  if doc.callback then call_back(id, doc, place, value) end
end

-- The job has come to an end of its own: completed (with a result), failed or terminated (with an error).
local function finish(id, doc, place, value)
  change(id, doc, fields.ended_at, now_text)
  change(id, doc, fields.unanswered, nil)
  stop_waiting(id, doc)
  if place ~= 'f' then clear_steps(id, doc) end
  if place == 'T' then let_children_go(id, doc, true) end
  free_unique(id, doc)
  leave_word(id, doc, place, value)
  local keep = removal(id, doc, place)
  if keep <= now and not doc.parent and not doc.has_children then
    count(doc.queue, resting[place])
    tell_status(id, doc, resting[place])
    call_watchers(id, doc, resting[place])
    return erase(id, doc, resting[place])
  end
  move(id, doc, place, keep)
  count(doc.queue, resting[place])
  wake_parent(id, doc, true)
  if doc.delete_requested then delete_marked(id, doc) end
end

-- Nobody serves its class any more. Pull workers need no registration.
side.serving = {}
function side.is_gone(doc)
  local class = doc.queue .. '/' .. doc.class
  if side.serving[class] == nil then side.serving[class] = queue(doc.queue).mode == 'pull' or redis.call('HEXISTS', ns .. 'workers:' .. doc.queue, doc.class) == 1 end
  return not side.serving[class]
end

-- After a run of a job that somebody wants to end: the shutdown run, or the end itself.
local function terminate_now(id, doc)
  if doc.has_shutdown then
    local was = status_of(doc)
    if (doc.callback or doc.keep_result) and ends[was] then change(id, doc, fields.end_was_told, '1') end
    change(id, doc, fields.terminating, '1')
    announce(id, doc, was)
    for _, field in ipairs({ fields.not_before, fields.backoff_until, fields.next_slot, fields.sleep_until, fields.awaited_children }) do change(id, doc, field, nil) end
    stop_waiting(id, doc)
    return enqueue(id, doc, true)
  end
  change(id, doc, fields.terminating, nil)
  finish(id, doc, 'T', '{"message":"terminated","reason":"other"}')
end
