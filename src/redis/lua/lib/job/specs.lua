function specs.check_registered(spec)
  local q, class = spec.queue, spec.class
  if spec.known == '1' or cache.queue(q).mode == 'pull' then return end
  if redis.call('HEXISTS', ns .. 'workers:' .. q, class) == 0 then
    journal.refuse('REFUSED', 'class ' .. class .. ' is not registered for queue ' .. q)
  end
end

local function add(spec, name, value) journal.push(journal.within(spec, name), value) end

local options = {
  ['parent'] = function(spec) spec.parent, spec.name = args.take(), args.take() end,
  unique = function(spec) spec.unique, spec.unique_for, spec.unique_how = args.take(), args.take(), args.take() end,
  debounce = function(spec) spec.debounce = args.take() end,
  joining = function(spec) spec.joining = true end,
  alias = function(spec) add(spec, 'alias_names', args.take()) end,
  input = function(spec) add(spec, 'inputs', { args.take(), args.take_list() }) end,
  value = function(spec) add(spec, 'values', args.take_many(2)) end,
  limit = function(spec) add(spec, 'limit_rows', args.take_many(5)) end,
  ['packed'] = function(spec) spec.packed = args.take_list() end,
  listen = function(spec) add(spec, 'listens', { args.take(), args.take(), args.take_list() }) end,
}

-- `tail`: the part of the document that the caller knows, as JSON. `at` is a time and `wait` a delay in milliseconds.
function specs.take()
  local spec = { queue = args.take(), class = args.take(), known = args.take(), at = args.take(), wait = args.take(),
    priority = args.take_int(), tail = args.take() }
  local n = args.take_int()
  for _ = 1, n do options[args.take()](spec) end
  return spec
end

function specs.moment_of(spec)
  local moment = spec.at ~= '' and tonumber(spec.at) or (spec.wait ~= '' and time.now + spec.wait) or nil
  return moment and moment > time.now and moment or nil, moment
end
