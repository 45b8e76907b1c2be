function alone.act(index, member, act, ...)
  local ok, answer = journal.isolate(member, act, ...)
  if ok then return answer end
  local number = pieces.number_in(member)
  local key = number and redis_keys.piece(number) or redis_keys.job((member:match('%d+$')))
  readable.note(key, cache.raw[key] or '')
  cache.zset(index, member, false)
end
