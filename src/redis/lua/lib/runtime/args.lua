function args.take()
  at = at + 1
  return ARGV[at]
end

function args.take_int() return tonumber(args.take()) end

function args.take_list()
  local list = {}
  for i = 1, args.take_int() do list[i] = args.take() end
  return list
end
