function entries.ids_of(members, most)
  local ids, keys = {}, {}
  for i = 1, math.min(#members, most) do
    local number = pieces.number_in(members[i])
    if number then keys[#keys + 1] = redis_keys.piece(number) end
  end
  cache.fetch(keys)
  for _, member in ipairs(members) do
    if #ids >= most then return ids end
    local number = pieces.number_in(member)
    local piece = number and cache.piece(number)
    if not number then ids[#ids + 1] = member:match('%d+$') end
    for _, id in ipairs(piece and pieces.ids(number, piece) or {}) do
      local key = redis_keys.job(id)
      ids[#ids + 1] = id
      cache.raw[key] = cache.raw[key] or false
    end
  end
  return ids
end
