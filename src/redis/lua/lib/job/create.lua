local function postpone(id, doc, spec, args)
  local newest = args ~= '' and args or nil
  for _, e in ipairs(spec.values or {}) do
    if e[1] == fields.args then newest = e[2] end
  end
  values.set_value(id, doc, fields.args, newest)
  local most = spec.debounce ~= '' and doc.created_at + spec.debounce or numbers.never
  local moment, asked_doc = math.min(time.now + spec.wait, most), cjson.decode(spec.tail)
  cache.change(id, doc, fields.not_before, moment > time.now and moment or nil)
  cache.change(id, doc, fields.wanted_early, nil)
  assign.anew(id, doc, asked_doc.constraints_version, spec.limit_rows or {}, asked_doc.group)
  if moment > time.now or doc.place == PLACE.timers then queueing.enqueue(id, doc) end
end

-- Letters of `unique_how`. d: the job holds the key until it is deleted. s: until it starts. p: refuses the call if the
-- holder of the key is a child of another parent. c: always creates the job, which holds the key only if it is free.
local function unique_is(spec, letter) return spec.unique_how:find(letter, 1, true) ~= nil end

local function claim_unique(spec, id, doc)
  local scope = unique.scope(spec.queue, spec.class, spec.unique)
  if unique_is(spec, 'c') and unique.holder(scope) then return end
  if unique_is(spec, 'd') then cache.change(id, doc, fields.unique_held, UNIQUE_HELD.until_deleted) end
  if unique_is(spec, 's') then
    cache.change(id, doc, fields.unique_held, spec.debounce and UNIQUE_HELD.debounced or UNIQUE_HELD.until_started)
  end
  if spec.unique_for == '' then
    unique.hold(id, doc, scope)
  else
    unique.hold_for(id, doc, scope, tonumber(spec.unique_for))
  end
end

local function existing_job(spec, parent, args)
  if not spec.unique or unique_is(spec, 'c') then return nil, nil end
  local id, status = unique.holder(unique.scope(spec.queue, spec.class, spec.unique))
  local doc = id and cache.find(id)
  if not doc then return id, status end
  if unique_is(spec, 'p') and doc.parent and doc.parent ~= parent then
    journal.refuse('CONFLICT', 'job ' .. id .. ' has this unique key and belongs to another parent, job ' .. doc.parent)
  end
  if spec.debounce and doc.unique_held == UNIQUE_HELD.debounced then
    local waits = states.is_ready(doc) or doc.place == PLACE.timers or doc.place == PLACE.limited
    if doc.terminating or not waits then return unique.let_go(id, doc) end
    postpone(id, doc, spec, args)
  end
  return id, states.of(doc)
end

function create.one(spec, args, born)
  specs.check_registered(spec)
  local parent = born or (spec.parent and aliases.resolve(spec.parent))
  local same, status = existing_job(spec, parent, args)
  if same then return same, status, true end
  local parent_doc = parent and cache.need(parent)
  local held = spec.joining and kin.joins(parent, parent_doc)
  if parent_doc and parent_doc.terminating and not born then
    journal.refuse('WRONG_STATUS', 'job ' .. parent .. ' is terminating')
  end
  local id, doc = ids.next_id(), cjson.decode(spec.tail)
  doc.place, doc.created_at, doc.sequence = 'new', time.now_text, time.sequence()
  if doc.tag and not sides.of(spec) then
    journal.refuse('REFUSED',
      'tag: expected a class that pull workers serve, got class ' .. doc.class .. ' of queue ' .. doc.queue,
      'tag')
  end
  if args ~= '' then doc.args = args end
  cache.add(id, doc)
  if parent_doc then
    births.count(id, doc, parent, parent_doc)
    kin.link(parent, parent_doc, spec.name ~= '' and spec.name or id, id, doc)
  end
  values.note(id, #spec.tail)
  for _, e in ipairs(spec.values or {}) do values.set_value(id, doc, e[1], e[2]) end
  values.check(id, doc)
  for _, e in ipairs(spec.listens or {}) do audience.set_channels(port_refs.at(id, doc, e[1], e[2]), e[3]) end
  if spec.alias_names then aliases.add(id, doc, spec.alias_names) end
  for _, e in ipairs(spec.inputs or {}) do write.items(port_refs.at(id, doc, 'i', e[1]), e[2], { quiet = true }) end
  for _, e in ipairs(spec.limit_rows or {}) do assign.add(id, doc, unpack(e, 1, 5)) end
  if spec.unique then claim_unique(spec, id, doc) end
  local moment, since = specs.moment_of(spec)
  if moment then cache.change(id, doc, fields.not_before, moment) end
  counts.add(spec, 'made')
  if parent_doc and parent_doc.terminating then
    ending.terminate_now(id, doc)
  elseif held then
    kin.hold(id, doc, parent, parent_doc)
  else
    queueing.enqueue(id, doc, nil, since)
  end
  return id, doc.gone or states.of(doc), false
end
