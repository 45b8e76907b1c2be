-- What is asked of new jobs, from outside or from a run.
-- Made when first called.

local specs = {}

local args = require 'runtime/args'
local cache = require 'runtime/cache'
local journal = require 'runtime/journal'
local time = require 'runtime/time'
local take, take_int, take_list = args.take, args.take_int, args.take_list
local queue = cache.queue
local push, refuse, within = journal.push, journal.refuse, journal.within
local now = time.now

function specs.check_registered(q, class, known)
  if known == '1' or queue(q).mode == 'pull' then return end
  if redis.call('HEXISTS', ns .. 'workers:' .. q, class) == 0 then
    refuse('REFUSED', 'class ' .. class .. ' is not registered for queue ' .. q)
  end
end

-- What can be asked of a new job beyond its document; each reads its own arguments.
local options = {
  parent = function(spec) spec.parent, spec.name = take(), take() end,
  unique = function(spec) spec.unique, spec.unique_for, spec.unique_how = take(), take(), take() end,
  debounce = function(spec) spec.debounce = take() end,
  joining = function(spec) spec.joining = true end,
  alias = function(spec) push(within(spec, 'aliases'), take()) end,
  input = function(spec) push(within(spec, 'inputs'), { take(), take_list() }) end,
  value = function(spec) push(within(spec, 'values'), { take(), take() }) end,
  limit = function(spec) push(within(spec, 'limits'), { take(), take(), take(), take(), take() }) end,
  packed = function(spec) spec.packed = take_list() end,
  listen = function(spec) push(within(spec, 'listens'), { take(), take(), take_list() }) end,
}

-- What jobs that differ only in their args have in common. `tail` is the document as far as the caller knows it, with
-- its opening brace; at is absolute, wait from now.
function specs.take()
  local spec = { queue = take(), class = take(), known = take(), at = take(), wait = take(), priority = take_int(), tail = take() }
  local n = take_int()
  for _ = 1, n do options[take()](spec) end
  return spec
end

function specs.moment_of(spec)
  local moment = spec.at ~= '' and tonumber(spec.at) or (spec.wait ~= '' and now + tonumber(spec.wait)) or nil
  return moment and moment > now and moment or nil, moment
end

return specs
