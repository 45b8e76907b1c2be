local BRANCHES, PAGE, MOST_PUTS = 500, 100, 12000

local function page(parent, cursor)
  local scanned, there = redis.call('HSCAN', kin.children_key(parent), cursor, 'COUNT', PAGE), {}
  for id, doc in cache.each(kin.ids_in(scanned[2])) do
    if doc.parent == parent then there[id] = doc end
  end
  return there, scanned[1], #scanned[2] / 2
end

local function add_page(id, doc, parent, cursor)
  write.items(port_refs.at(id, doc, 'i', 'in'), { '="' .. parent .. ' ' .. cursor .. '"' },
    { quiet = true, unnoted = true })
end

-- Jobs with children form a chain, so that `erase_below` can begin with the deepest job.
local function is_marked(id, doc, other_doc)
  local mark = id .. ':' .. (doc.family_round or '0') .. ','
  return (other_doc.family_before or ''):sub(1, #mark) == mark, mark
end

local function stand(id, doc, other, other_doc)
  local is_in_chain, mark = is_marked(id, doc, other_doc)
  if is_in_chain then return end
  cache.change(other, other_doc, fields.family_before, mark .. (doc.family_before or ''))
  cache.change(id, doc, fields.family_before, other)
  add_page(id, doc, other, '0')
end

local function begin(id, doc)
  local top_doc = cache.find(doc.family_top)
  cache.count(id, doc, fields.family_round)
  cache.clear(id, doc, { fields.family_before, fields.family_cursor })
  if top_doc then stand(id, doc, doc.family_top, top_doc) end
end

local function go_through(id, doc, act)
  local port = port_refs.at(id, doc, 'i', 'in')
  local list, waiting = ports.list(port)
  local line = lists.items(list, math.min(waiting, BRANCHES))
  local at_item, looked = 0, 0
  while line[at_item + 1] and looked < BRANCHES and journal.puts < MOST_PUTS do
    at_item = at_item + 1
    local parent, cursor = line[at_item]:match('^="(%d+) (%d+)"$')
    local children, next_page, seen = page(parent, cursor)
    for child, child_doc in pairs(children) do
      act(child, child_doc)
      if child_doc.has_children then stand(id, doc, child, child_doc) end
    end
    if next_page ~= '0' then add_page(id, doc, parent, next_page) end
    looked = looked + seen + 1
  end
  if at_item > 0 then ports.take(port, at_item) end
  return looked
end

local function end_and_erase(id, doc, force)
  ending.check_terminated(id, doc, force)
  ending.terminate_one(id, doc)
  if doc.place ~= PLACE.terminated then return false end
  erase.job(id, doc)
  return true
end

local function prune(here, cursor, force)
  local children, next_page, seen = page(here, cursor)
  local erased, waits = 0, false
  for child, child_doc in pairs(children) do
    if child_doc.has_children then return erased, next_page, waits, true, seen end
    if end_and_erase(child, child_doc, force) then
      erased = erased + 1
    else
      waits = true
    end
  end
  for _, entry in pairs(cache.writes.hashes[kin.children_key(here)] or {}) do waits = waits or entry ~= false end
  return erased, next_page, waits, false, seen
end

local function strip(id, doc, here, here_doc)
  cache.change(here, here_doc, fields.has_children, nil)
  cache.drop(kin.children_key(here))
  local before = here_doc.family_before:match(',(%d*)$')
  cache.change(id, doc, fields.family_before, before ~= '' and before or nil)
end

local function erase_below(id, doc, force)
  local looked, done = 0, 0
  while doc.family_before and looked < BRANCHES and journal.puts < MOST_PUTS do
    local here, here_doc, cursor = doc.family_before, cache.find(doc.family_before), doc.family_cursor or '0'
    if not here_doc or not is_marked(id, doc, here_doc) then
      begin(id, doc)
      return done, true, false
    end
    local erased, next_page, waits, grown, seen = prune(here, cursor, force)
    done, looked = done + erased, looked + seen + 1
    cache.change(id, doc, fields.family_cursor, next_page ~= '0' and next_page or nil)
    if grown then begin(id, doc) end
    if grown or waits or (next_page == '0' and cursor ~= '0') then return done, true, waits end
    if next_page == '0' then strip(id, doc, here, here_doc) end
  end
  local top_doc = cache.find(doc.family_top)
  if doc.family_before or not top_doc then return done, doc.family_before ~= nil, false end
  if not end_and_erase(doc.family_top, top_doc, force) then return done, true, true end
  return done + 1, false, false
end

local acts = {
  terminate = ending.terminate_one,
  delete = ending.terminate_one,
  ['delete terminated'] = ending.check_terminated,
}

function branches.run(me)
  local doc = cache.need(me.id)
  local top_doc, action = cache.find(doc.family_top),
    values.get_value(me.id, doc, fields.args):match('"action":"([%a ]+)"')
  local deletes, waits, erased = action ~= 'terminate', false, 0
  local wanted = top_doc and (not deletes or top_doc.delete_requested == 'f')
  if wanted and not doc.family_round then begin(me.id, doc) end
  local looked = wanted and go_through(me.id, doc, acts[action]) or 0
  local more = looked > 0
  if wanted and not more and deletes then erased, more, waits = erase_below(me.id, doc, action == 'delete') end
  local total = (tonumber(doc['s:done']) or 0) + (deletes and erased or looked)
  cache.change(me.id, doc, 's:done', total)
  me.result = '{"done":' .. total .. '}'
  if waits then me.at = time.now + 1000 elseif more then cache.change(me.id, doc, fields.input_during_run, '1') end
  leases.uncount_run(me.id, doc)
end
