-- peek: the waiting values of many ports, behind so many of them, without taking them. Read only.
--
-- keys: none
-- by: dispatcher
-- reads: job, jobs
-- writes: none
-- args: ns, clock, seed, skip:int, most:int, ...
-- returns: ports
--          rest: id, dir, port each

local values = require 'job/values'
local ports = require 'port/ports'
local snapshot = require 'run/snapshot'
local args = require 'runtime/args'
local cache = require 'runtime/cache'
local numbers = require 'runtime/numbers'
local get_value = values.get_value
local take, take_int = args.take, args.take_int
local fetch_jobs, find = cache.fetch_jobs, cache.find
local int = numbers.int

local asked, ids = {}, {}
for i = 1, take_int() do
  asked[i] = { id = take(), dir = take(), port = take() }
  ids[i] = asked[i].id
end
fetch_jobs(ids)

local rows = {}
for i, of in ipairs(asked) do
  local doc = find(of.id)
  local pushed, taken, dropped
  if doc then pushed, taken, dropped = ports.counts(doc, of.dir, of.port) end
  if not pushed or dropped then
    rows[i] = {}
  else
    local n = math.min(most, pushed - taken - skip)
    local items = n > 0 and snapshot.first_values(of.id, doc, of.dir, of.port, n, skip) or {}
    rows[i] = row_of.waiting { taken = int(taken), items = items, default = get_value(of.id, doc, 'd' .. of.dir .. ':' .. of.port) or '', more = int(pushed - taken - skip - #items) }
  end
end
return reply.ports { ports = rows }
