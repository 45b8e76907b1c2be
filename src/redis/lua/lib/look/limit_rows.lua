function limit_rows.of(key, waiting, since, started, starts)
  local state = limits.at(key)
  if not state.settings or state.settings.gone then return end
  return row_of.limit { key = key, document = cjson.encode(state.settings), held = numbers.int(state.taken),
    waiting = numbers.int(waiting), since = since or '', started = numbers.int(started or 0), starts = starts or {} }
end
