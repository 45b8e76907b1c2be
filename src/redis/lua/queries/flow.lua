-- flow: a flow as it is: its job, its children, and what stands at their ports. Read only.
--
-- keys: none
-- by: API, dashboard
-- reads: audience, channel, job, jobs
-- writes: none
-- args: ns, clock, seed, job
-- returns: {'flow', id, document, side values, children, [child, side, port, size, default, wires, oldest, passed] each, now}
--          | {'refused', code, message}

local aliases = require 'job/aliases'
local snapshot = require 'run/snapshot'
local cache = require 'runtime/cache'
local journal = require 'runtime/journal'
local numbers = require 'runtime/numbers'
local redis_keys = require 'runtime/redis_keys'
local time = require 'runtime/time'
local find, need, text_at = cache.find, cache.need, cache.text_at
local attempt = journal.attempt
local int = numbers.int
local key_of = redis_keys.key_of
local now = time.now

local ok, id = attempt(function()
  local id = aliases.resolve(job)
  need(id)
  return id
end)
if not ok then return { 'refused', id.code, id.message } end

local doc = find(id)
local children = snapshot.flat_children(id, doc)
return { 'flow', id, text_at(key_of(id)), snapshot.flat_side_values(id, doc), children, snapshot.flat_wires(id, doc, children, true), int(now) }
