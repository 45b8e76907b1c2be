-- `how`: 'first' (only a group's first job sets the limit), 'set' (every job sets it), or '' (only the API sets it).
function assign.add(id, doc, key, how, concurrency, rate, period)
  local was = limits.of(key) or {}
  if how ~= '' and not was.fixed then
    limits.define(key, { concurrency = tonumber(concurrency), rate = tonumber(rate), period = tonumber(period),
      constraints_version = key:find('^constraint:') and doc.constraints_version or nil,
      auto = how == 'first' and 1 or nil, gone = was.gone and false }, how)
  end
  if how == 'first' then cache.change(id, doc, fields.group_concurrency, concurrency ~= '' and concurrency or nil) end
  cache.change(id, doc, fields.limits, doc.limits and doc.limits .. '\n' .. key or key)
end

function assign.anew(id, doc, version, assigned, group)
  local was = doc.group
  cache.change(id, doc, fields.constraints_version, version)
  cache.change(id, doc, fields.limits, nil)
  for _, e in ipairs(assigned) do assign.add(id, doc, unpack(e, 1, 5)) end
  if group ~= was then
    if was and not states.resting[doc.place] then limits.count_in_group(doc, -1) end
    cache.change(id, doc, fields.group, group)
    if doc.group and not states.resting[doc.place] then limits.count_in_group(doc, 1) end
  end
  if doc.reserved_limit and not tables.has(sides.limits_of(doc), doc.reserved_limit) then limits.drop_baton(id, doc) end
  if doc.place == PLACE.limited or states.is_ready(doc) then
    local full = limits.first_full(doc)
    if full then return waiting.set_aside(id, doc, full) end
    if doc.place == PLACE.limited then places.move(id, doc, sides.of(doc), nil, nil, true) end
  end
end
