function unique.scope(q, class, key) return q .. '\n' .. class .. '\n' .. key end

function unique.holder(scope)
  local id, till, left_as = (cache.text_at(ns .. 'unique:' .. scope) or ''):match('^(%d+),?(%d*),?(%a*)$')
  if not id or (till ~= '' and tonumber(till) <= time.now) then return nil, nil end
  local doc = cache.find(id)
  if doc then return id, states.of(doc) end
  if left_as and left_as ~= '' then return id, left_as end
end

function unique.hold(id, doc, scope)
  cache.change(id, doc, fields.unique_scope, scope)
  cache.set_text(ns .. 'unique:' .. scope, id)
end

function unique.hold_for(id, doc, scope, ms)
  cache.change(id, doc, fields.timed_unique_scope, scope)
  cache.set_expiring(ns .. 'unique:' .. scope, id .. ',' .. numbers.int(time.now + ms), ms)
end

function unique.let_go(id, doc)
  unique.free(id, doc, true)
  cache.change(id, doc, fields.unique_scope, nil)
end

function unique.free(id, doc, deleted)
  if not doc.unique_scope or (doc.unique_held == UNIQUE_HELD.until_deleted and not deleted) then return end
  local key = ns .. 'unique:' .. doc.unique_scope
  if cache.text_at(key) == id then cache.replace_text(key, nil) end
end

function unique.outlive(id, doc, status)
  local key = ns .. 'unique:' .. doc.timed_unique_scope
  local till = (cache.text_at(key) or ''):match('^' .. id .. ',(%d+)$')
  local left = till and till - time.now or 0
  if left > 0 then cache.set_expiring(key, id .. ',' .. till .. ',' .. status, left) end
end
