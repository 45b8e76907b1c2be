-- Which job or port a verb is about.
-- Made when first called.

local reach = {}

local kin = require 'family/kin'
local trees = require 'family/trees'
local aliases = require 'job/aliases'
local args = require 'runtime/args'
local cache = require 'runtime/cache'
local journal = require 'runtime/journal'
local take, take_int, take_list = args.take, args.take_int, args.take_list
local need = cache.need
local refuse = journal.refuse

-- A run reaches the jobs of its own tree; `reach` is 'all' where its worker's registration, or the key of its commit, says so.
function reach.check_reach(me, id)
  if me.token and me.reach ~= 'all' and trees.root(id) ~= trees.root(me.id) then
    refuse('FORBIDDEN', 'job ' .. id .. ' is not of the family of job ' .. me.id .. ': expected a job of the same tree, or a worker that is registered with reach "all"')
  end
end

-- '' is the job itself, '>name' a child, anything else an id or alias.
function reach.take_target(me)
  local text = take()
  if text == '' then return me.id, need(me.id) end
  local child = text:match('^>(.*)$')
  local id = child and kin.need_child(me.id, child) or aliases.resolve(text)
  local doc = need(id)
  if not child then reach.check_reach(me, id) end
  return id, doc
end

function reach.take_port(me)
  local id, doc = reach.take_target(me)
  return { id = id, doc = doc, dir = take(), port = take() }
end

function reach.take_specs()
  local specs = {}
  for _ = 1, take_int() do
    local port, has_default, default, channels = take(), take() == '1', take(), take_list()
    specs[port] = { default = has_default and default or nil, channels = channels }
  end
  return specs
end

function reach.take_targets(me)
  local targets = {}
  for i = 1, take_int() do targets[i] = reach.take_port(me) end
  return targets
end

return reach
