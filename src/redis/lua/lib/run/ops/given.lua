-- What verbs are given, kind by kind: how each kind of src/redis/ops.ts is read. The build puts these calls into the verbs.
-- Made when first called.

local given = {}

local kin = require 'family/kin'
local aliases = require 'job/aliases'
local specs = require 'job/specs'
local reach = require 'run/ops/reach'
local args = require 'runtime/args'
local cache = require 'runtime/cache'
local take, take_int, take_list = args.take, args.take_int, args.take_list
local need = cache.need

function given.some()
  local text = take()
  return text ~= '' and text or nil
end

function given.moment()
  local text = take()
  return text ~= '' and tonumber(text) or nil
end

function given.maybe()
  local is_there, text = take() == '1', take()
  return is_there and text or nil
end

-- '' is the job itself, '>name' a child, anything else an id or alias.
function given.target(me)
  local text = take()
  if text == '' then return me.id, need(me.id) end
  local child = text:match('^>(.*)$')
  local id = child and kin.need_child(me.id, child) or aliases.resolve(text)
  local doc = need(id)
  if not child then reach.check(me, id) end
  return id, doc
end

function given.port(me)
  local id, doc = given.target(me)
  return { id = id, doc = doc, dir = take(), port = take() }
end

function given.ports(me)
  local targets = {}
  for i = 1, take_int() do targets[i] = given.port(me) end
  return targets
end

function given.specs()
  local ports = {}
  for _ = 1, take_int() do
    local port = take()
    ports[port] = { default = given.maybe(), channels = take_list() }
  end
  return ports
end

function given.counts()
  local counts = {}
  for _ = 1, take_int() do counts[take()] = take_int() end
  return counts
end

-- Of each limit its key, how it is set, and to what.
function given.limits()
  local limits = {}
  for i = 1, take_int() do limits[i] = { take(), take(), take(), take(), take() } end
  return limits
end

-- What a field is to be, '' clears it.
function given.fields()
  local list = {}
  for i = 1, take_int() do list[i] = { take(), take() } end
  return list
end

function given.job() return specs.take(), take() end

return given
