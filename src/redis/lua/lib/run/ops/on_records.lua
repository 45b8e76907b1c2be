-- Verbs that change what is written of a job: its state, steps, names, options.
-- Made when first called.

local on_records = {}

local kin = require 'family/kin'
local aliases = require 'job/aliases'
local places = require 'job/places'
local queueing = require 'job/queueing'
local states = require 'job/states'
local unique = require 'job/unique'
local values = require 'job/values'
local assign = require 'limit/assign'
local lanes = require 'queue/lanes'
local order = require 'queue/order'
local reach = require 'run/ops/reach'
local args = require 'runtime/args'
local cache = require 'runtime/cache'
local journal = require 'runtime/journal'
local numbers = require 'runtime/numbers'
local redis_keys = require 'runtime/redis_keys'
local tables = require 'runtime/tables'
local time = require 'runtime/time'
local get_value, set_value = values.get_value, values.set_value
local take, take_int, take_list = args.take, args.take_int, args.take_list
local change, del, hget, hset, need, queue, zset = cache.change, cache.del, cache.hget, cache.hset, cache.need, cache.queue, cache.zset
local refuse = journal.refuse
local int = numbers.int
local side_key = redis_keys.side_key
local now = time.now
local verbs = {}

-- Goes on only if a field of the state still is what was seen, as one of the texts that it may be kept as; a run that saw
-- something else comes again.
function verbs.expect_state(me)
  local field, texts = take(), take_list()
  if not tables.has(texts, get_value(me.id, need(me.id), 's:' .. field) or '') then refuse('CONFLICT', 'state ' .. field .. ' of job ' .. me.id .. ' has changed') end
end

function verbs.set(me)
  local field, value, doc = take(), take(), need(me.id)
  values.admit(me.id, doc, 's:' .. field)
  set_value(me.id, doc, 's:' .. field, value)
  values.check(me.id, doc)
end

function verbs.unset(me) set_value(me.id, need(me.id), 's:' .. take(), nil) end

-- Goes on only if a field still is what the caller has seen, as one of the texts that it may be kept as.
function verbs.was(me)
  local doc, field, texts = need(me.id), take(), take_list()
  if not tables.has(texts, get_value(me.id, doc, field) or '') then refuse('CONFLICT', 'job ' .. me.id .. ' has been changed meanwhile') end
end

-- Another class: of a queue where pull workers choose by it.
function verbs.rename(me)
  local id, doc, class = me.id, need(me.id), take()
  local key = doc.unique_scope and doc.unique_scope:match('\n([^\n]*)$')
  unique.let_go(id, doc)
  change(id, doc, fields.class, class)
  local scope = key and unique.scope(doc.queue, class, key)
  if scope and not unique.holder(scope) then unique.hold(id, doc, scope) end
  if doc.parent then hset(kin.children_key(doc.parent), doc.child_name, id .. ',' .. (kin.status(doc.parent, doc.child_name) or states.of(doc)) .. ',' .. class) end
end

function verbs.alias(me)
  local alias = take()
  aliases.add(me.id, need(me.id), alias)
end

function verbs.unalias(me)
  local alias = take()
  aliases.remove(me.id, need(me.id), alias)
end

function verbs.step(me)
  local name, value, ms, doc = take(), take(), take(), need(me.id)
  -- When it was kept, how long it took, and in which run; a value never begins so.
  value = '@' .. int(now) .. ',' .. ms .. ',' .. (doc.run_number or '') .. '\n' .. value
  hset(side_key(me.id, 'steps'), name, value)
  change(me.id, doc, fields.has_steps, '1')
  values.add(me.id, doc, #name + #value)
  values.check(me.id, doc)
end

-- Steps that nobody will ask for again.
function verbs.unstep(me)
  hset(side_key(me.id, 'steps'), take(), false)
  values.lose(me.id, need(me.id))
end

-- What a flow does from now on is written down, for so long; '' stops that, and forgets what was.
function verbs.record(me)
  local doc, keep = need(me.id), take()
  change(me.id, doc, fields.recorded, keep ~= '' and keep or nil)
  if keep == '' then del(side_key(me.id, 'record')) end
end

function verbs.tag(me)
  local id, doc = reach.take_target(me)
  local version, limits = take(), {}
  for i = 1, take_int() do limits[i] = { take(), take(), take(), take(), take() } end
  local group = take()
  assign.anew(id, doc, version ~= '' and version or nil, limits, group ~= '' and group or nil)
end

-- Fields of the document that a person may change; an empty value clears.
function verbs.patch(me)
  local doc, postponed, moved = need(me.id), false, false
  for _ = 1, take_int() do
    local field, value = take(), take()
    set_value(me.id, doc, field, value ~= '' and value or nil)
    if field == fields.repeats and value == '' then zset(ns .. 'repeats', me.id, false) end
    if field == fields.not_before then postponed = (tonumber(value) or 0) > now end
    if field == fields.not_before or field == fields.next_slot then moved = true end
  end
  values.check(me.id, doc)
  if doc.place == 't' or (not doc.place and postponed) or (doc.place == 'p' and moved) then return queueing.enqueue(me.id, doc) end
  if not doc.place or doc.place == 'p' then zset(places.index_of(doc), places.member_of(me.id, doc), order.score(doc)) end
  if doc.place == 'w' then places.move(me.id, doc, 'w', nil, doc.waiting_limit) end
end

-- An API key by its id, with its hash. One that is to be changed must be there: what was removed does not come back. `known`
-- is where it stands: under its id, or where an earlier version has put it.
function verbs.apikey(me)
  local id, about, known, chance = take(), take(), take(), take()
  if known ~= '' and not hget(ns .. 'keys', known) then refuse('NOT_FOUND', 'there is no API key ' .. id) end
  if known ~= '' and known ~= id then hset(ns .. 'keys', known, false) end
  hset(ns .. 'keys', id, about)
  me.answer = { id, chance }
end

-- A bell that could not be published is taken back.
function verbs.unring()
  local q, bell = take(), take()
  if queue(q).lanes[bell] then lanes.set(q, bell, nil) end
end

function on_records.named(word) return verbs[word] end

return on_records
