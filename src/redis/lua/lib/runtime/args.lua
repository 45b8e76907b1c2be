function args.take()
  at = at + 1
  return ARGV[at]
end

function args.take_int() return tonumber(args.take()) end

function args.take_many(n)
  local list = {}
  for i = 1, n do list[i] = args.take() end
  return list
end

function args.take_list() return args.take_many(args.take_int()) end
