local function together(list, n, most)
  local items, bytes = lists.items(list, math.max(1, math.floor(most / (n + 1)))), 0
  for i, item in ipairs(items) do
    bytes = bytes + #item * n
    if bytes > write.bytes_left and i > 1 then return tables.slice(items, 1, i - 1) end
  end
  return items
end

function relay.run(id, doc)
  local most, port = math.min(write.MAX_DIRECT, write.budget), port_refs.at(id, doc, 'i', 'in')
  local pushed, taken = ports.counts(port)
  while most > 0 and pushed > taken do
    local list = lists.of(port, pushed - taken)
    local oldest = lists.items(list, 1)
    local page = math.max(1, math.min(most, math.floor(write.bytes_left / #oldest[1])))
    local members = write.listeners(doc.relay_channel, doc.relay_cursor, page)
    if #members < page and not doc.relay_cursor then oldest = together(list, #members, most) end
    write.deliver_all(doc.relay_channel, members, oldest)
    if #members == page then
      cache.change(id, doc, fields.relay_cursor, members[page])
    else
      cache.change(id, doc, fields.relay_cursor, nil)
      lists.pop(list, #oldest)
      taken = taken + #oldest
      ports.set_counts(port, pushed, taken)
    end
    most = write.bytes_left > 0 and most - #members * #oldest - 10 or 0
  end
  return pushed > taken
end
