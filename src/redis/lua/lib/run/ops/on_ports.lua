-- Verbs of ports, wires and channels.
-- Made when first called.

local on_ports = {}

local values = require 'job/values'
local audience = require 'port/audience'
local define = require 'port/define'
local hints = require 'port/hints'
local log = require 'port/log'
local ports = require 'port/ports'
local relay = require 'port/relay'
local write = require 'port/write'
local leases = require 'run/leases'
local reach = require 'run/ops/reach'
local args = require 'runtime/args'
local cache = require 'runtime/cache'
local journal = require 'runtime/journal'
local numbers = require 'runtime/numbers'
local time = require 'runtime/time'
local set_value = values.set_value
local take, take_int, take_list = args.take, args.take_int, args.take_list
local change, need = cache.change, cache.need
local refuse = journal.refuse
local int = numbers.int
local now = time.now
local verbs = {}

-- A read that a run made against its snapshot.
function verbs.consume(me)
  local of, cursor, n = reach.take_port(me), take_int(), take_int()
  ports.consume(of.id, of.doc, of.dir, of.port, cursor, n)
end

function verbs.take(me)
  local of, n = reach.take_port(me), take_int()
  local items, is_default = ports.take(of.id, of.doc, of.dir, of.port, n)
  me.answer = { is_default and '1' or '' }
  for i, item in ipairs(items) do me.answer[i + 1] = item end
end

function verbs.write(me)
  local to, flags, items = reach.take_port(me), take(), take_list()
  write.items(to.id, to.doc, to.dir, to.port, items, { quiet = flags:find('q', 1, true), default = flags:find('d', 1, true) })
  local pushed, taken = ports.counts(to.doc, to.dir, to.port)
  me.answer = { int(pushed - taken) }
end

function verbs.default(me)
  local of, has_value, value = reach.take_port(me), take() == '1', take()
  ports.open(of.id, of.doc, of.dir, of.port)
  set_value(of.id, of.doc, 'd' .. of.dir .. ':' .. of.port, has_value and value or nil)
  values.check(of.id, of.doc)
  if has_value and of.doc['w' .. of.dir .. ':' .. of.port] then write.set_off(of.id, of.doc, of.dir, of.port) end
end

function verbs.channels(me)
  local of, channels = reach.take_port(me), take_list()
  ports.open(of.id, of.doc, of.dir, of.port)
  audience.set_channels(of.id, of.doc, of.dir, of.port, channels)
  values.check(of.id, of.doc)
end

function verbs.connect(me)
  local from = reach.take_port(me)
  local targets = reach.take_targets(me)
  me.answer = { int(write.connect(from.id, from.doc, from.dir, from.port, targets)) }
end

function verbs.wire(me)
  local from, calls = reach.take_port(me), take() == '1'
  local targets = reach.take_targets(me)
  if #targets > 1000 then refuse('TOO_LARGE', 'expected at most 1000 wires at one port, got ' .. #targets) end
  local own = from.dir == 'i' and from.id == me.id or from.dir == 'o' and from.doc.parent == me.id
  if not own then refuse('REFUSED', 'job ' .. me.id .. ' can lay wires from its inputs and from the outputs of its children') end
  define.lay(from.id, from.doc, from.dir, from.port, calls and 'call' or targets, from.id == me.id and 'the flow' or from.doc.child_name)
end

function verbs.amend(me)
  local id, doc = reach.take_target(me)
  local dir, specs = take(), reach.take_specs()
  define.amend(id, doc, dir, specs, take_list())
end

-- Moves values alone, and no default.
function verbs.shift(me)
  local from, to = reach.take_port(me), reach.take_port(me)
  local pushed, taken = ports.open(from.id, from.doc, from.dir, from.port)
  local items = pushed > taken and ports.take(from.id, from.doc, from.dir, from.port, take_int()) or {}
  if #items > 0 then write.items(to.id, to.doc, to.dir, to.port, items, {}) end
  me.answer = { int(#items) }
end

function verbs.ports(me)
  local id, doc = reach.take_target(me)
  local dir, specs = take(), reach.take_specs()
  define.ports(id, doc, dir, specs)
end

function verbs.publish(me)
  local channel, item = take(), take()
  write.charge(1)
  me.answer = { int(write.publish(channel, { item })) }
end

-- What a relay has left makes it run again; such runs say nothing about a job that runs wild.
function verbs.relay(me)
  local doc = need(me.id)
  if relay.run(me.id, doc) then change(me.id, doc, fields.input_during_run, '1') end
  leases.uncount_run(me.id, doc)
end

-- What was done up to here, with so many of the run's own reads, is one entry of the log.
function verbs.entry(me)
  local context, reads, defaults = take(), {}, {}
  for _ = 1, take_int() do reads[take()] = take_int() end
  for _ = 1, take_int() do defaults[take()] = take_int() end
  log.end_entry(me.id, context ~= '' and context or nil, reads, defaults)
end

function verbs.log(me)
  local level, entry = take(), take()
  log.line(me.id, level, entry)
end

-- Somebody outside listens for the next so many milliseconds: to these channels and what is below them, or, where none is
-- named, to all.
function verbs.listen()
  local ms, channels = take_int(), {}
  for i = 1, take_int() do channels[i] = take() end
  hints.listen(ms, channels)
end

function on_ports.named(word) return verbs[word] end

return on_ports
