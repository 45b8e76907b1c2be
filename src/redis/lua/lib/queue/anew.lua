-- Applies changed settings to waiting jobs: the first slices now, the rest with claims and ticks.

local anew = {}

local aging = require 'queue/aging'
local moving = require 'queue/moving'
local work = require 'run/work'
local cache = require 'runtime/cache'

function anew.order(q)
  cache.change_queue(q, queue_fields.reordering, 'r:0')
  for _ = 1, 4 do
    aging.go_on(q)
    work.flush(true)
  end
end

function anew.serve(q)
  cache.change_queue(q, queue_fields.moving, 'r:0:0')
  for _ = 1, 4 do
    moving.go_on(q)
    work.flush(true)
  end
end

return anew
