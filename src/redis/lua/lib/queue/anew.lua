function anew.sort(q)
  cache.change_queue(q, queue_fields.reordering, 'r:0')
  for _ = 1, 4 do
    resort.go_on(q)
    work.flush(true)
  end
end
