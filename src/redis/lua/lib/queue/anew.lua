function anew.sort(q)
  cache.change_queue(q, queue_fields.reordering, 'r:0')
  -- The queue may be new. Without this, some Lua engines did not list it.
  cache.sset(ns .. 'queues', q, true)
  for _ = 1, 4 do
    resort.go_on(q)
    work.flush(true)
  end
end
