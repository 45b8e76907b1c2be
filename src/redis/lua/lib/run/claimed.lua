function claimed.waited(id)
  local number = pieces.number_in(id)
  local doc = number and cache.common_of(cache.piece(number)) or cache.find(id)
  return math.max(0, time.now - time.moment_of_sequence(doc.sequence))
end

function claimed.rows(ids)
  local list = {}
  for i, id in ipairs(ids) do
    local number = pieces.number_in(id)
    local doc = not number and cache.docs[id]
    if number then
      list[i] = row_of.claimed { document = cache.raw[redis_keys.piece(number)], piece = number }
    elseif not doc or not (doc.has_children or doc.has_steps == '1' or cache.attached_to(id, doc)[1]) then
      list[i] = row_of.claimed { document = cache.document(id) }
    else
      local ok, found = journal.isolate(id, snapshot.all_of, id, doc)
      list[i] = ok and found
        or row_of.claimed { document = cache.document(id), fault = found.code .. ' ' .. found.message }
    end
  end
  return list
end
