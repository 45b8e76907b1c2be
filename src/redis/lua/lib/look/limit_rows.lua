function limit_rows.of(key, waiting, since, started, starts)
  local state = limits.at(key)
  if state.settings.gone then return end
  return row_of.limit { key = key, settings = cjson.encode(state.settings), running = state.taken,
    waiting = waiting, full_since = since or '', started = started or 0, starts = starts or {} }
end
