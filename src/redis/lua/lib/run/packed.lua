-- These functions change all jobs of a piece together. Other code first takes a job out of its piece.

function packed.is_heard(number)
  return hints.hears('/sidejob/job') or hints.hears_one_of(number * pieces.SIZE, pieces.SIZE)
end

function packed.suits(want, number, piece, room)
  local doc = cache.common_of(piece)
  if want.place ~= '' or want.lane == '' or piece.n > room or (doc.constraints_version or '') ~= want.version then
    return false
  end
  if sides.own_limit(doc) or globs.first(doc.class, cache.queue(doc.queue).banned or {}, want.banned) then
    return false
  end
  return not packed.is_heard(number)
end

local function move(number, piece, state, moment)
  cache.place_piece(number, piece, nil)
  cache.change_piece(number, piece, 'state', state)
  local q, to = cache.place_piece(number, piece, moment)
  cache.soonest(q, cache.first_times[to], moment)
end

local function lent_state(token, till, begun)
  return '"z":"l","tk":"' .. token .. '","le":"' .. till .. '","k":"1",' .. (begun and '"bg":"1",' or '') .. '"l":"'
    .. time.now_text .. '","m":"' .. time.minute .. ':1",'
end

function packed.lend(number, piece, want, begun)
  local till = time.now + want.lease
  local token = tokens.next('p' .. number, '1', '')
  move(number, piece, lent_state('@' .. token:sub((token:find('.', 1, true))), numbers.int(till), begun), till)
end

function packed.claimed(number, token)
  local piece = number and cache.piece(number)
  if not piece or piece.n == 0 then return nil end
  local under, till = piece.state:match('^"z":"l","tk":"@%.([^"]*)","le":"(%d+)"')
  if under ~= token then return nil end
  return piece, tonumber(till)
end

local function is_within(mask, other)
  for at = 1, #mask do
    if mask:byte(at) == 49 and other:byte(at) ~= 49 then return false end
  end
  return true
end

local function completed_state(run, ran, rest)
  return '"z":"c","e":"' .. time.now_text .. '","su":"1","k":"2","lr":"' .. ran .. ',' .. time.now_text
    .. ',completed,1' .. leases.of_version(run.version) .. '","cm":"@.' .. run.token .. '|' .. numbers.int(run.n)
    .. '|completed","l":"' .. ran .. '",' .. rest
end

function packed.finish(run, lane)
  local piece, till = packed.claimed(run.piece, run.token)
  if not piece or till <= time.now or lane == '' or packed.is_heard(run.piece) then return nil end
  if piece.mask ~= run.mask and not is_within(piece.mask, run.mask) or run.size > 1
    and not packed.use_ports(piece, run) then
    return nil
  end
  local doc, n, mask = cache.common_of(piece), piece.n, piece.mask
  local keep = expiry.of('p' .. run.piece, doc, 'c')
  if doc.quota_bytes then quota.add(doc.api_key, -n, 0) end
  local ran, rest = piece.state:match('"l":"(%d+)",(.*)$')
  counts.ran(doc, ran, n)
  counts.add(doc, 'completed', n)
  if outbox.is_on() then history.note_piece(run.piece, piece, completed_state(run, ran, rest)) end
  if keep > time.now then
    if doc.quota_bytes then
      local bytes = math.ceil((#piece.common + #piece.args + #(piece.own or '')) / n)
      quota.keep(doc.api_key, n * bytes)
      rest = '"kk":"' .. bytes .. '",' .. rest
    end
    move(run.piece, piece, completed_state(run, ran, rest), keep)
  else
    packed.remove(run.piece, piece)
  end
  return mask
end

function packed.remove(number, piece)
  local doc = cache.common_of(piece)
  local bytes = doc.quota_bytes and piece.state:match('"kk":"(%d+)"')
  if bytes then quota.keep(doc.api_key, -piece.n * bytes) end
  cache.place_piece(number, piece, nil)
  cache.change_piece(number, piece, 'mask', string.rep('0', #piece.mask))
  cache.change_piece(number, piece, 'n', 0)
end

local WHOLE = string.rep('1', pieces.SIZE)

function packed.suits_new(spec)
  return spec.packed and not specs.moment_of(spec) and not sides.of(spec) and not hints.hears('/sidejob/job')
end

function packed.taken_apart(spec, n)
  local list, inputs = {}, {}
  for _ = 1, n, pieces.SIZE do
    local args, own = cjson.decode(args.take()), spec.packed[1] and cjson.decode(args.take())
    for i = 1, #args do
      list[#list + 1] = args[i]
      for at, port in ipairs(spec.packed) do
        journal.within(inputs, #list)[at] = { port, cjson.decode(own['vi:' .. port][i]) }
      end
    end
  end
  for _, port in ipairs(spec.packed) do
    spec.tail = spec.tail:gsub('"i:' .. port .. '":"%d+,0"', '"i:' .. port .. '":"0,0"', 1)
  end
  return list, inputs
end

function packed.create(spec, n, quota_of)
  specs.check_registered(spec)
  local q, first = spec.queue, ids.next_hundred(n)
  local ticks, common, index = time.next_ticks(n) + 1, spec.tail:sub(2, -2), redis_keys.queue(q, 'ready')
  for from = 0, n - 1, pieces.SIZE do
    local held = math.min(pieces.SIZE, n - from)
    local number, since = numbers.int((first + from) / pieces.SIZE), time.digits(ticks + from)
    journal.put(cache.pieces, number,
      { mask = WHOLE:sub(1, held), n = held, first = since, state = '', common = common, args = args.take(),
      own = spec.packed[1] and args.take() })
    journal.put(cache.changed_pieces, number, true)
    cache.raw[redis_keys.piece(number)] = false
    cache.zset(index, since .. ':p' .. number, order.rank(q, spec.priority, math.floor((ticks + from) / 1000)))
    cache.count_packed(q, 'ready', held - 1)
  end
  for id = first, hints.hears_one_of(first, n) and first + n - 1 or 0 do
    local one = numbers.int(id)
    if hints.hears_job(one) then hints.publish_status(one, cache.find(one), 'queued') end
  end
  counts.add(spec, 'made', n)
  if quota_of ~= '' then quota.add(quota_of, n, 0) end
  lanes.ring(q, n)
  return numbers.int(first)
end

function packed.extend(number, piece, lease)
  local till = numbers.int(time.now + lease)
  local state = piece.state:gsub('"bg":"1",', '', 1):gsub('"le":"%d+",', '"le":"' .. till .. '","bg":"1",', 1)
  move(number, piece, state, tonumber(till))
  return till
end

local function after_ports(piece, run)
  local common, back, found = piece.common, at, 1
  at = run.from + 1
  for _ = 1, args.take_int() do
    local was, is = args.take(), args.take()
    if found == 1 then common, found = common:gsub(was, is, 1) end
  end
  local own = args.take()
  at = back
  if found == 0 or common:find('"i:[%w_]+":"[1-9]%d*,0"') then return nil, nil end
  return common, own ~= '' and own or nil
end

-- These runs only read and write at ports without listeners and wires. The lane has sent the new counts of the ports
-- and the written values.
function packed.use_ports(piece, run)
  if hints.hears('/sidejob/log') then return false end
  local common, own = after_ports(piece, run)
  if not common then return false end
  cache.change_piece(run.piece, piece, 'common', common)
  cache.change_piece(run.piece, piece, 'own', own)
  return true
end
