function given.some()
  local text = args.take()
  return text ~= '' and text or nil
end

function given.moment() return args.take_int() end

function given.maybe()
  local is_there, text = args.take() == '1', args.take()
  return is_there and text or nil
end

function given.target(me)
  local text = args.take()
  if text == '' then return me.id, cache.need(me.id) end
  local child = text:match('^>(.*)$')
  local id = child and kin.need_child(me.id, child) or aliases.resolve(text)
  local doc = cache.need(id)
  if not child then reach.check(me, id) end
  return id, doc
end

function given.port(me)
  local id, doc = given.target(me)
  return port_refs.at(id, doc, args.take(), args.take())
end

function given.ports(me)
  local targets = {}
  for i = 1, args.take_int() do targets[i] = given.port(me) end
  return targets
end

function given.specs()
  local ports = {}
  for _ = 1, args.take_int() do
    local port = args.take()
    ports[port] = { default = given.maybe(), channels = args.take_list() }
  end
  return ports
end

function given.counts()
  local counts = {}
  for _ = 1, args.take_int() do counts[args.take()] = args.take_int() end
  return counts
end

local function rows(width)
  local list = {}
  for i = 1, args.take_int() do list[i] = args.take_many(width) end
  return list
end

function given.limits() return rows(5) end

function given.fields() return rows(2) end

function given.job() return specs.take(), args.take() end
