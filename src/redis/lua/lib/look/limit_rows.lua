function limit_rows.of(key, waiting, since, started, starts)
  local state = limits.at(key)
  if not state.settings or state.settings.gone then return end
  return row_of.limit { key = key, document = cjson.encode(state.settings), held = state.taken,
    waiting = waiting, since = since or '', started = started or 0, starts = starts or {} }
end
