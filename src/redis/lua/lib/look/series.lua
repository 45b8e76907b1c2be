local series = {}

local counts = require 'queue/counts'

local function most_of(kind) return kind == 'm' and counts.MINUTES or counts.HOURS end

function series.add_keys(keys, name, kind)
  for place = 0, most_of(kind) - 1 do keys[#keys + 1] = counts.key(name, kind, place, most_of(kind)) end
end

function series.row(name, kind)
  local queue_record, found = cache.queue(name), {}
  for place = 0, most_of(kind) - 1 do
    local text = cache.raw[counts.key(name, kind, place, most_of(kind))]
    if text then found[#found + 1] = text end
  end
  local waited = queue_record.hour_wait
  if kind == 'm' then waited = queue_record.minute_wait end
  return row_of.counted { queue = name, latest = counts.written_down(queue_record, 0, waited), before = found }
end

return series
