internal.BULK = 'sidejob.bulk'

function internal.note_delivery(id, doc, status)
  local ended = cache.find(doc.callback_of)
  if ended and ended.callback_job == id then cache.change(doc.callback_of, ended, fields.callback_status, status) end
end

-- Callbacks to the same destination form a group, so that a slow destination delays only its own callbacks.
local AT_DESTINATION = '8'

function internal.make(doc)
  local id = ids.next_id()
  doc.place, doc.sequence = PLACE.new, time.sequence()
  cache.add(id, doc)
  counts.add(doc, 'made')
  return id
end

-- The ended job may be deleted before the callback is sent, so the callback job stores all data of the call.
function internal.call_back(id, doc, place, value)
  if doc.callback_of then
    return internal.note_delivery(id, doc, place == PLACE.completed and 'DELIVERED' or 'FAILED')
  end
  local n = numbers.int((tonumber(doc.ends_told) or 0) + 1)
  local args = '{"job":' .. id .. ',"end":' .. n .. ',"queue":' .. cjson.encode(doc.queue) .. ',"class":'
    .. cjson.encode(doc.class) .. ',"status":"' .. states.resting[place] .. '","finishedAt":' .. time.now_text
    .. '}'
  local new = { queue = 'sidejob', class = 'callback', created_at = time.now_text, created_by = 'job:' .. id,
    callback_of = id, callback_end = n, callback_root = doc.root_and_level and doc.root_and_level:match('^%d+'),
    traceparent = doc.traceparent }
  local callback = internal.make(new)
  values.set_value(callback, new, fields.args, args)
  values.set_value(callback, new, fields.callback, values.get_value(id, doc, fields.callback))
  values.set_value(callback, new, fields.callback_result, value)
  cache.change(callback, new, fields.group, 'callback:' .. doc.callback_host)
  assign.add(callback, new, 'group:' .. new.group, 'first', AT_DESTINATION, '', '')
  cache.change(id, doc, fields.ends_told, n)
  cache.change(id, doc, fields.callback_job, callback)
  cache.change(id, doc, fields.callback_status, nil)
  queueing.enqueue(callback, new)
end

function internal.hand_on(top, act)
  local doc = { queue = internal.BULK, class = 'family', created_at = time.now_text, created_by = 'job:' .. top,
    family_top = top, keep_result = '86400000', ['i:in'] = '0,0' }
  local id = internal.make(doc)
  values.set_value(id, doc, fields.args, '{"job":' .. top .. ',"action":"' .. act .. '"}')
  queueing.enqueue(id, doc)
  return id
end
