local function move_all(q, place, member)
  local number = pieces.number_in(member)
  local piece = number and cache.piece(number)
  local doc = piece and cache.common_of(piece)
  local ids, n = { not number and member:sub(15) or nil }, 0
  if doc and not sides.of(q, doc.class) then return 0 end
  if piece then ids = pieces.ids(number, piece) end
  for _, id in ipairs(ids) do
    local doc = cache.find(id)
    if doc and doc.place == place and sides.of(q, doc.class, doc.tag) ~= place then
      places.move(id, doc, sides.of(q, doc.class, doc.tag), nil, nil, true)
      n = n + 1
    end
  end
  return n
end

-- Starts at the last job, so that claims at the front do not shift the slice. A pass that moved a job is repeated.
function moving.go_on(q)
  if not cache.queue(q).moving then return 0 end
  local at_side, from, moved = cache.queue(q).moving:match('^(%a):(%d+):(%d+)$')
  local place, n = at_side == 'p' and 'p' or nil, 0
  local members, seen, gone =
    redis.call('ZREVRANGE', redis_keys.queue_key(q, states.index(place)), from, from + due.SLICE - 1), 0, 0
  cache.fetch_jobs(members)
  for _, member in ipairs(members) do
    if n >= due.SLICE then break end
    local here = move_all(q, place, member)
    n, seen, gone = n + here, seen + 1, gone + (here > 0 and 1 or 0)
  end
  moved = numbers.int(moved + n)
  local further
  if seen < #members or #members == due.SLICE then
    further = at_side .. ':' .. numbers.int(from + seen - gone) .. ':' .. moved
  elseif not place then
    further = 'p:0:' .. moved
  elseif moved ~= '0' then
    further = 'r:0:0'
  end
  cache.change_queue(q, queue_fields.moving, further)
  return n
end
