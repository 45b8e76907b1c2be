local verbs = {}

function verbs.consume(me, from, cursor, count)
  if me.keep and count > 0 and from.id == me.id and from.dir == 'i' then me.keep(from, count) end
  ports.consume(from, cursor, count)
  if me.note then me.note('r' .. from.id .. from.field, count) end
end

function verbs.write(me, to, how, items)
  write.items(to, items, { quiet = how:find('q', 1, true), default = how:find('d', 1, true) })
  if me.note then me.note('w' .. to.id .. to.field, #items) end
  local pushed, taken = ports.counts(to)
  me.answer = { numbers.int(pushed - taken) }
end

function verbs.default(_, of, value)
  ports.open(of)
  ports.set_default(of, value)
  values.check(of.id, of.doc)
  if value and of.doc['w' .. of.field] then write.set_off(of) end
end

function verbs.channels(_, of, set)
  ports.open(of)
  audience.set_channels(of, set)
  values.check(of.id, of.doc)
end

function verbs.connect(me, from, to)
  me.answer = { numbers.int(write.connect(from, to, {})) }
end

function verbs.wire(me, from, calls, to)
  if #to > 1000 then journal.refuse('TOO_LARGE', 'expected at most 1000 wires from one port, got ' .. #to) end
  local own = from.dir == 'i' and from.id == me.id or from.dir == 'o' and from.doc.parent == me.id
  if not own then
    journal.refuse('REFUSED', 'job ' .. me.id .. ' can wire only its inputs and the outputs of its children')
  end
  define.lay(from, calls and 'call' or to, from.id == me.id and 'the flow' or from.doc.child_name)
end

function verbs.amend(_, id, doc, side, specs, drop)
  define.amend(id, doc, side, specs, drop)
end

function verbs.ports(_, id, doc, side, specs)
  define.ports(id, doc, side, specs)
end

function verbs.publish(me, channel, item)
  write.charge({ channel }, 1)
  me.answer = { numbers.int(write.publish(channel, { item })) }
  if me.note then me.note('p' .. channel, 1) end
end

function verbs.relay(me)
  local doc = cache.need(me.id)
  if relay.run(me.id, doc) then cache.change(me.id, doc, fields.input_during_run, '1') end
  leases.uncount_run(me.id, doc)
end

function verbs.entry(me, context, reads, defaults)
  log.end_entry(me.id, context, reads, defaults)
end

function verbs.log(me, level, entry)
  log.line(me.id, level, entry)
end

function on_ports.named(word) return verbs[word] end
