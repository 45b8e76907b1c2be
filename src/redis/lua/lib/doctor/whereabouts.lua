function whereabouts.piece(number)
  local text = cache.text_at(redis_keys.piece(number))
  return text and pieces.read(text)
end

local function scored(q, place, number, piece)
  return tonumber(redis.call('ZSCORE', redis_keys.queue(q, place), pieces.entry(number, piece)) or nil)
end

local function look(number)
  local piece, wrong = whereabouts.piece(number), {}
  local q, its_place = cache.where(piece)
  local function find(what) wrong[#wrong + 1] = 'its piece ' .. what end
  for _, place in ipairs({ 'ready', 'leases', 'completed' }) do
    local score = scored(q, place, number, piece)
    if score and place ~= its_place then find('is in ' .. place .. ', but its record names ' .. its_place) end
    if not score and place == its_place then find('is not in ' .. place) end
  end
  local score, expected = scored(q, its_place, number, piece), nil
  if its_place == 'leases' then expected = tonumber((piece.state:match('"le":"(%d+)"'))) end
  if its_place == 'ready' and not cache.queue(q).reordering then expected = order.score(cache.common_of(piece)) end
  if score and expected and score ~= expected then
    find('has score ' .. numbers.int(score) .. ' in ' .. its_place .. ', expected ' .. numbers.int(expected))
  end
  return wrong
end

local known = {}
function whereabouts.faults_of(id)
  local number = pieces.place_of(id)
  known[number] = known[number] or look(number)
  return known[number]
end

function whereabouts.is_packed(id)
  local number, at = pieces.place_of(id)
  local piece = number and whereabouts.piece(number)
  return piece and pieces.has(piece, at)
end

local MOST_READ = 100
function whereabouts.packed_in(q, place)
  if redis.call('ZCARD', redis_keys.queue(q, place)) > MOST_READ then return nil end
  local members, n = redis.call('ZRANGE', redis_keys.queue(q, place), 0, -1), 0
  cache.fetch_jobs(members)
  for _, member in ipairs(members) do
    local number = pieces.number_in(member)
    local piece = number and whereabouts.piece(number)
    n = n + (piece and piece.n - 1 or 0)
  end
  return n
end
