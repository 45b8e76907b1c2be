local function begin(q, field, progress, go_on)
  cache.change_queue(q, field, progress)
  for _ = 1, 4 do
    go_on(q)
    work.flush(true)
  end
end

function anew.order(q) begin(q, queue_fields.reordering, 'r:0', aging.go_on) end

function anew.serve(q) begin(q, queue_fields.moving, 'r:0:0', moving.go_on) end
