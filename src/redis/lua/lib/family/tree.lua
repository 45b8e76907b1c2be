-- Parents and children: adopting, disowning, ending whole trees.

local function children_key(id) return side_key(id, 'children') end
local function child_id(id, name)
  local entry = hget(children_key(id), name)
  return entry and entry:match('^%d+')
end

-- What other parts do with families.
local kin = {}

function kin.status(id, name)
  local entry = hget(children_key(id), name)
  return entry and entry:match('^%d+,(%a+),')
end

-- Every child as { name, id, status, class }.
local function children_of(id, doc)
  local list = {}
  if not doc.has_children then return list end
  for name, entry in pairs(hash(children_key(id))) do
    local child, status, class = entry:match('^(%d+),(%a+),(.*)$')
    list[#list + 1] = { name = name, id = child, status = status, class = class }
  end
  return list
end

local function need_child(id, name)
  local child = child_id(id, name)
  if not child then refuse('NOT_FOUND', 'job ' .. id .. ' has no child ' .. name) end
  return child
end

local function link(parent, parent_doc, name, id, doc)
  if not parent_doc.has_children then hash_is_empty(children_key(parent)) end
  local taken_by = child_id(parent, name)
  if taken_by and find(taken_by) then refuse('TAKEN', 'job ' .. parent .. ' already has a child ' .. name .. ' (job ' .. taken_by .. ')') end
  change(id, doc, fields.parent, parent)
  change(id, doc, fields.child_name, name)
  change(parent, parent_doc, fields.has_children, '1')
  local status = status_of(doc)
  hset(children_key(parent), name, id .. ',' .. (status == 'running' and 'queued' or status) .. ',' .. doc.class)
  change(id, doc, fields.followed_as, nil)
  if parent_doc.followed then flows.count(id, doc, parent, flows.kinds[status]) end
  if parent_doc.waits_for == '*' and not ends[status] then
    sset(side_key(parent, 'waiting'), id, true)
    change(parent, parent_doc, fields.waits_for_count, int(tonumber(parent_doc.waits_for_count) + 1))
  end
end

local function unlink(id, doc)
  local parent = doc.parent
  if not parent then return end
  kin.roots = nil
  if doc.followed_as then flows.count(id, doc, parent, nil) end
  hset(children_key(parent), doc.child_name, false)
  change(id, doc, fields.parent, nil)
  change(id, doc, fields.child_name, nil)
  local parent_doc = find(parent)
  if parent_doc and parent_doc.waits_for then push(within(settled, parent), id) end
end

-- A child made from outside for the run that its parent is in is held until that run has ended; below a parent that
-- waits for its children it is one more of them. Answers whether it is held.
function kin.joins(parent, doc)
  if doc.place == 'l' or doc.unanswered then return true end
  if doc.waits_for then return false end
  refuse('WRONG_STATUS', 'job ' .. parent .. ' is ' .. status_of(doc) .. ': it is neither running nor waiting for children')
end

function kin.hold(id, doc, parent, parent_doc)
  change(id, doc, fields.held, '1')
  change(parent, parent_doc, fields.holds_children, '1')
  move(id, doc, 's', never)
end

-- What held it is over.
function kin.free(id, doc)
  if not doc.held then return end
  change(id, doc, fields.held, nil)
  if doc.place == 's' then enqueue(id, doc) end
end

let_children_go = function(id, doc, cancelled)
  if not doc.holds_children then return end
  change(id, doc, fields.holds_children, nil)
  local held = {}
  for _, child in ipairs(children_of(id, doc)) do
    if child.status == 'suspended' then held[#held + 1] = child.id end
  end
  fetch_jobs(held)
  for _, child in ipairs(held) do
    local child_doc = find(child)
    if child_doc and child_doc.held then
      if cancelled then
        change(child, child_doc, fields.held, nil)
        change(child, child_doc, fields.cancelled, '1')
        terminate_now(child, child_doc)
      else
        kin.free(child, child_doc)
      end
    end
  end
end

-- A child that somebody may pause for is gone.
function kin.missed(parent)
  local doc = find(parent)
  if doc and doc.awaited_children and doc.place ~= 'l' then wake(parent, doc, 'child') end
end

-- An ended child that is to run again is waited for again.
function kin.rejoin(id, doc)
  local parent_doc = doc.parent and find(doc.parent)
  if not parent_doc or parent_doc.waits_for ~= '*' then return end
  sset(side_key(doc.parent, 'waiting'), id, true)
  change(doc.parent, parent_doc, fields.waits_for_count, int(tonumber(parent_doc.waits_for_count) + 1))
end

local MAX_DEPTH = 1000

-- The topmost job above a job, or the job itself. Kept within a run, for as long as nobody gets or loses a parent.
function kin.root(id)
  local roots = within(kin, 'roots')
  if roots[id] then return roots[id] end
  local top = id
  for _ = 1, MAX_DEPTH do
    local doc = find(top)
    if not (doc and doc.parent) then break end
    top = doc.parent
  end
  roots[id] = top
  return top
end

local function adopt(id, doc, orphan, name)
  local orphan_doc = need(orphan)
  if orphan_doc.parent then refuse('WRONG_STATUS', 'job ' .. orphan .. ' already has a parent (job ' .. orphan_doc.parent .. ')') end
  local above, levels = id, 0
  while above do
    if above == orphan then refuse('REFUSED', 'job ' .. id .. ' cannot adopt job ' .. orphan .. ': it is the job itself or above it') end
    if levels > MAX_DEPTH then refuse('LIMITED', 'job ' .. id .. ' has more than ' .. MAX_DEPTH .. ' jobs above it: expected no more where a job is adopted') end
    local above_doc = find(above)
    above = above_doc and above_doc.parent
    levels = levels + 1
  end
  if doc.terminating then refuse('WRONG_STATUS', 'job ' .. id .. ' is terminating') end
  kin.roots = nil
  link(id, doc, name, orphan, orphan_doc)
end

-- Ends one job: at once, or by a shutdown run, or when the run that holds it has ended.
local function terminate_one(id, doc)
  if doc.place == 'T' or doc.terminating then return end
  if doc.place == 'l' then
    change(id, doc, fields.terminating, '1')
    announce(id, doc, 'running')
  else
    if doc.has_shutdown and side.is_gone(doc) then change(id, doc, fields.has_shutdown, nil) end
    terminate_now(id, doc)
  end
end

-- How many jobs of families one script touches, whatever it was asked for; what is more is handed on.
kin.left = 500

-- The children of a job by their ids; nil where there are many more than are wanted. A page may end early, so it is asked
-- for more than that.
function kin.few_children(id, doc, most)
  if not doc.has_children then return {} end
  local key, ids = children_key(id), {}
  local scanned = writes.dels[key] and { '0', {} } or redis.call('HSCAN', key, 0, 'COUNT', 4 * most)
  if scanned[1] ~= '0' then return nil end
  local pending = writes.hashes[key] or {}
  for i = 1, #scanned[2], 2 do
    if pending[scanned[2][i]] == nil then ids[#ids + 1] = scanned[2][i + 1]:match('^%d+') end
  end
  for _, entry in pairs(pending) do
    if entry then ids[#ids + 1] = entry:match('^%d+') end
  end
  return ids
end

-- The job and all below it, nearest first; `more` when there are more than are wanted.
local function tree_of(id, most)
  local tree, at_job = { id }, 1
  while at_job <= #tree and #tree < most do
    local doc = find(tree[at_job])
    if doc then
      local ids = kin.few_children(tree[at_job], doc, most)
      if not ids then return tree, true end
      fetch_jobs(ids)
      -- Above itself is a job only where a circle was made, which has no other way back.
      for _, child in ipairs(ids) do
        if child ~= id then tree[#tree + 1] = child end
      end
    end
    at_job = at_job + 1
  end
  return tree, at_job <= #tree
end

-- The job and all below it, where this script may touch so many; else nil.
function kin.whole(id)
  local tree, more = tree_of(id, math.max(kin.left, 2))
  if more or (#tree > kin.left and #tree > 1) then return nil end
  put(kin, 'left', kin.left - #tree)
  return tree
end

-- Answers the job that goes on with what is below, where that is too much for one script.
local function terminate(id, doc, recursive)
  if not recursive then return terminate_one(id, doc) end
  local tree = kin.whole(id)
  for _, member in ipairs(tree or { id }) do
    local member_doc = find(member)
    if member_doc then terminate_one(member, member_doc) end
  end
  return not tree and kin.hand_on(id, 'terminate') or nil
end

-- The answer of a run's commit outlasts its job for so long.
local GONE = 60000
local function gone_key(token, n) return ns .. 'gone:' .. token .. '|' .. int(n) end
local function keep_answer(doc)
  if not doc.last_commit then return end
  local token, n, answer = doc.last_commit:match('^([^|]*)|(%d+)|(.*)$')
  local ended = tonumber(((doc.last_run or ''):match('^%d+,(%d+)'))) or 0
  if token and ended > now - GONE then set_expiring(gone_key(token, tonumber(n)), answer, GONE) end
end

-- A key that is held for a time outlasts its job, and tells how that stood.
function kin.leave_unique(id, doc, status)
  local key = ns .. 'unique:' .. doc.timed_unique_scope
  local till = (text_at(key) or ''):match('^' .. id .. ',(%d+)$')
  local left = till and tonumber(till) - now or 0
  if left > 0 then set_expiring(key, id .. ',' .. till .. ',' .. status, left) end
end

local sides_of = fields { has_children = 'children', has_steps = 'steps', waits_for = 'waiting', history_kept = 'runs' }

-- Removes every trace of one job. Its children must be gone or disowned before.
erase = function(id, doc, status)
  local parent = doc.parent
  unlink(id, doc)
  if parent then kin.missed(parent) end
  keep_answer(doc)
  free_unique(id, doc, true)
  if doc.timed_unique_scope then kin.leave_unique(id, doc, status or status_of(doc)) end
  if doc.place ~= 'new' then leave_place(id, doc) end
  if doc.held_limits then release_slots(id, doc) end
  if doc.terminating then tally.ending(doc.queue, -1) end
  if doc.repeats then zset(ns .. 'repeats', id, false) end
  if doc.group and doc.place ~= 'new' and not resting[doc.place] then count_in_group(doc, -1) end
  if doc.quota_bytes and doc.place ~= 'new' and not resting[doc.place] then quota.count(doc, -1) end
  if doc.relay_channel then relays.set_relay(doc.relay_channel, nil) end
  if doc.root_and_level then kin.uncount_birth(doc) end
  if doc.aliases then
    for _, alias in ipairs(cjson.decode(doc.aliases)) do hset(ns .. 'jobs:aliases', alias, false) end
  end
  for _, field in ipairs(attached_to(id, doc)) do
    local dir, port = field:match('^([io]):(.+)$')
    if dir and doc[field] then
      local pushed, taken = counts(doc, dir, port)
      lists.forget(lists.of(id, doc, dir, port, pushed - taken))
      for _, c in ipairs(dir == 'i' and channels_of(id, doc, dir, port) or {}) do member_change(c, id .. ':' .. port, false) end
    elseif doc[field] == '^' then
      local side = side_key(id, 'f:' .. field)
      put(writes.strings, side, nil)
      del(side)
    end
  end
  for flag, name in pairs(sides_of) do
    if doc[flag] then
      put(writes.hashes, side_key(id, name), nil)
      put(writes.sets, side_key(id, name), nil)
      put(writes.lists, side_key(id, name), nil)
      del(side_key(id, name))
    end
  end
  put(doc, 'gone', status or 'deleted')
  put(docs, id, false)
  put(dirty, id, true)
  if hints_wanted() then push(told, { '/sidejob/job/' .. id, '@\n\nl\n{"deleted":true}' }) end
end

-- Only what is terminated goes without force.
function kin.check_terminated(id, doc, force)
  if force or doc.place == 'T' then return end
  refuse('WRONG_STATUS', 'job ' .. id .. ' is ' .. status_of(doc) .. ': only what is terminated, with all below it, can be deleted')
end

-- A family that is too large for one script is deleted by a job of our own, which is asked for once.
function kin.delete_large(id, doc, force)
  if doc.delete_requested == 'f' then return 'ending' end
  kin.check_terminated(id, doc, force)
  if force then terminate_one(id, doc) end
  kin.hand_on(id, force and 'delete' or 'delete terminated')
  change(id, doc, fields.delete_requested, 'f')
  return 'ending'
end

-- Deletes a tree that has been terminated, children first. Answers 'gone', 'ending' (forced: runs have to end first).
local function delete(id, doc, force)
  local tree = kin.whole(id)
  if not tree then return kin.delete_large(id, doc, force) end
  local waiting = false
  for _, member in ipairs(tree) do
    local member_doc = find(member)
    if member_doc and member_doc.place ~= 'T' then
      kin.check_terminated(member, member_doc, force)
      terminate_one(member, member_doc)
      if not member_doc.gone and member_doc.place ~= 'T' then
        change(member, member_doc, fields.delete_requested, '1')
        waiting = true
      end
    end
  end
  if waiting then
    change(id, doc, fields.delete_requested, '1')
    return 'ending'
  end
  for i = #tree, 1, -1 do
    local member_doc = find(tree[i])
    if member_doc then erase(tree[i], member_doc) end
  end
  return 'gone'
end

-- Erases the children that completed or were terminated, each with all below it, where all of that has ended.
function kin.forget(id, doc)
  local left = 0
  for _, child in ipairs(children_of(id, doc)) do
    local tree = child.status ~= 'failed' and kin.whole(child.id)
    local keep = not tree
    for _, member in ipairs(tree or {}) do
      local member_doc = find(member)
      if member_doc and not ends[status_of(member_doc)] then keep = true end
    end
    if keep then
      left = left + 1
    else
      for i = #tree, 1, -1 do
        local member_doc = find(tree[i])
        if member_doc then erase(tree[i], member_doc) end
      end
    end
  end
  if left > 0 or not doc.has_children then return end
  change(id, doc, fields.has_children, nil)
  put(writes.hashes, children_key(id), nil)
  del(children_key(id))
end

-- A tree that was told to go waits for its last run; this is it, or one of its last.
delete_marked = function(id, doc)
  local top, top_doc = id, doc
  for _ = 1, MAX_DEPTH do
    local above_doc = top_doc.parent and find(top_doc.parent)
    if not above_doc or not above_doc.delete_requested then break end
    top, top_doc = top_doc.parent, above_doc
  end
  if top_doc.delete_requested ~= 'f' then delete(top, top_doc, true) end
end
