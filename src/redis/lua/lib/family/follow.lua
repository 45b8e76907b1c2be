-- A job that follows its children runs again only if a child fails, is terminated, or recovers. Any other change of a
-- child completes or suspends the parent in the same script, without a run.

function follow.begin(id, doc)
  if doc.followed then return end
  cache.change(id, doc, fields.followed, '0,0,0')
  for child, child_doc in kin.each(id, doc) do
    cache.change(child, child_doc, fields.followed_as, nil)
    places.count_child(child, child_doc, id, states.kinds[states.of(child_doc)])
  end
end

local function complete(id, doc)
  if not doc.not_before and not doc.next_slot then return ending.finish(id, doc, 'c', 'null') end
  results.keep(id, doc, 'c', 'null')
  queueing.enqueue(id, doc)
  queueing.wake_parent(id, doc, doc.repeats)
end

function follow.keep_up(id, doc)
  if doc.followed == '0,0,0' then
    if doc.place ~= PLACE.completed then complete(id, doc) end
  elseif doc.place ~= PLACE.suspended then
    cache.change(id, doc, fields.ended_at, nil)
    places.move(id, doc, PLACE.suspended, numbers.never)
  end
end

local function after_children(id, doc, turned)
  if doc.place == PLACE.leased then
    if turned then cache.change(id, doc, fields.child_during_run, '1') end
  elseif states.is_idle(doc) or doc.place == PLACE.failed then
    if turned then return queueing.resume(id, doc) end
    if doc.place ~= PLACE.failed then follow.keep_up(id, doc) end
  end
end

function follow.keep_all_up()
  while next(places.moved) do
    local batch = places.moved
    places.moved = {}
    for id, did in pairs(batch) do
      local doc = cache.find(id)
      if doc and doc.followed then after_children(id, doc, did == 'turned') end
    end
  end
end
