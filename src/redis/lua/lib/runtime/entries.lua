function entries.ids_of(members, most)
  local ids, keys = {}, {}
  for i = 1, math.min(#members, most) do
    local number = pieces.number_in(members[i])
    if number then keys[#keys + 1] = redis_keys.piece_key(number) end
  end
  cache.fetch(keys)
  for _, member in ipairs(members) do
    if #ids >= most then return ids end
    local piece, number = cache.piece_at(member)
    if not number then ids[#ids + 1] = member:match('%d+$') end
    for _, id in ipairs(piece and pieces.ids(number, piece) or {}) do
      ids[#ids + 1] = id
      if cache.raw[redis_keys.key_of(id)] == nil then cache.raw[redis_keys.key_of(id)] = false end
    end
  end
  return ids
end
