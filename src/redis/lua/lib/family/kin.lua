function kin.children_key(id) return redis_keys.side(id, 'children') end

function kin.child(id, name) return (cache.hget(kin.children_key(id), name) or ''):match('^(%d+),(%a+)') end

function kin.children_of(id, doc)
  local list = {}
  if not doc.has_children then return list end
  for name, entry in pairs(cache.hash(kin.children_key(id))) do
    local child, status, class = entry:match('^(%d+),(%a+),(.*)$')
    if child then list[#list + 1] = { name = name, id = child, status = status, class = class } end
  end
  return list
end

function kin.each(id, doc)
  local ids = {}
  for i, child in ipairs(kin.children_of(id, doc)) do ids[i] = child.id end
  return cache.each(ids)
end

-- `flat`: names of children, each followed by a string that begins with the id of the child.
function kin.ids_in(flat)
  local ids = {}
  for i = 2, #flat, 2 do ids[i / 2] = flat[i]:match('^%d+') or '0' end
  return ids
end

function kin.need_child(id, name)
  local child = kin.child(id, name)
  if not child then journal.refuse('NOT_FOUND', 'job ' .. id .. ' has no child ' .. name) end
  return child, cache.need(child)
end

local function await(id, parent, parent_doc)
  cache.sset(redis_keys.side(parent, 'waiting'), id, true)
  cache.count(parent, parent_doc, fields.waits_for_count)
end

function kin.link(parent, parent_doc, name, id, doc)
  if not parent_doc.has_children then cache.hash_is_empty(kin.children_key(parent)) end
  local taken_by = kin.child(parent, name)
  if taken_by and cache.find(taken_by) then
    journal.refuse('TAKEN', 'job ' .. parent .. ' already has a child ' .. name .. ' (job ' .. taken_by .. ')')
  end
  cache.change(id, doc, fields.parent, parent)
  cache.change(id, doc, fields.child_name, name)
  cache.change(parent, parent_doc, fields.has_children, '1')
  local status = states.of(doc)
  places.set_entry(id, doc, status == 'running' and 'queued' or status)
  cache.change(id, doc, fields.followed_as, nil)
  if parent_doc.followed then places.count_child(id, doc, parent, states.kinds[status]) end
  if parent_doc.waits_for == '*' and not states.ends[status] then
    await(id, parent, parent_doc)
  end
end

function kin.unlink(id, doc)
  local parent = doc.parent
  if not parent then return end
  kin.memo.roots = nil
  if doc.followed_as then places.count_child(id, doc, parent, nil) end
  cache.hset(kin.children_key(parent), doc.child_name, false)
  cache.clear(id, doc, { fields.parent, fields.child_name })
  local parent_doc = cache.find(parent)
  if parent_doc and parent_doc.waits_for then journal.push(journal.within(queueing.settled, parent), id) end
end

function kin.joins(parent, doc)
  if doc.place == PLACE.leased or doc.unanswered then return true end
  if doc.waits_for then return false end
  states.refuse(parent, doc, 'it is neither running nor waiting for children')
end

function kin.hold(id, doc, parent, parent_doc)
  cache.change(id, doc, fields.held, '1')
  cache.change(parent, parent_doc, fields.holds_children, '1')
  places.move(id, doc, PLACE.suspended, numbers.never)
end

function kin.missed(parent)
  local doc = cache.find(parent)
  if doc and doc.awaited_children and doc.place ~= PLACE.leased then queueing.wake(parent, doc, 'child') end
end

function kin.rejoin(id, doc)
  local parent_doc = doc.parent and cache.find(doc.parent)
  if parent_doc and parent_doc.waits_for == '*' then await(id, doc.parent, parent_doc) end
end

kin.memo = {} -- `roots`: job → its topmost ancestor
