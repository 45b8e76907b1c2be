-- Keys that let a job be made once: what each stands for, and which job holds it.
-- Made when first called.
-- Made apart: scope, holder, hold, hold_for, let_go, waits, outlive.

local unique = {}

local states = require 'job/states'
local cache = require 'runtime/cache'
local journal = require 'runtime/journal'
local numbers = require 'runtime/numbers'
local time = require 'runtime/time'
local change, del, find, raw, set_expiring, set_text, text_at = cache.change, cache.del, cache.find, cache.raw, cache.set_expiring, cache.set_text, cache.text_at
local put = journal.put
local int = numbers.int
local now = time.now

function unique.scope(q, class, key) return q .. '\n' .. class .. '\n' .. key end

function unique.holder(scope)
  local id, till, left_as = (text_at(ns .. 'unique:' .. scope) or ''):match('^(%d+),?(%d*),?(%a*)$')
  if not id or (till ~= '' and tonumber(till) <= now) then return nil, nil end
  local doc = find(id)
  if doc then return id, states.of(doc) end
  if left_as and left_as ~= '' then return id, left_as end
end

function unique.hold(id, doc, scope)
  change(id, doc, fields.unique_scope, scope)
  set_text(ns .. 'unique:' .. scope, id)
end

function unique.hold_for(id, doc, scope, ms)
  change(id, doc, fields.timed_unique_scope, scope)
  set_expiring(ns .. 'unique:' .. scope, id .. ',' .. int(now + ms), ms)
end

function unique.let_go(id, doc)
  unique.free(id, doc, true)
  change(id, doc, fields.unique_scope, nil)
end

-- Whether a job waits and nobody has begun it; one that is asked to end will not be.
function unique.waits(doc) return not doc.terminating and (not doc.place or doc.place == 'p' or doc.place == 't' or doc.place == 'w') end

function unique.free(id, doc, deleted)
  if not doc.unique_scope or (doc.unique_held == '1' and not deleted) then return end
  local key = ns .. 'unique:' .. doc.unique_scope
  if text_at(key) == id then
    put(raw, key, false)
    set_text(key, nil)
    del(key)
  end
end

-- A key that is held for a time outlasts its job, and tells how that stood.
function unique.outlive(id, doc, status)
  local key = ns .. 'unique:' .. doc.timed_unique_scope
  local till = (text_at(key) or ''):match('^' .. id .. ',(%d+)$')
  local left = till and tonumber(till) - now or 0
  if left > 0 then set_expiring(key, id .. ',' .. till .. ',' .. status, left) end
end

return unique
