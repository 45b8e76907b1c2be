-- A piece is one string with up to a hundred jobs that differ only in args and port values. The id of a job determines
-- its piece: job 712 is at position 12 of `jobs:7`. All jobs of a piece are ready, leased or completed together. In the
-- state fields, `@` means the id of a job. `own` has the values at the ports, or is absent if there are none.

pieces.SIZE = 100

-- Most masks have no zeros, and each match takes time.
local function size_of(mask) return mask:find('0', 1, true) and #mask:gsub('0', '') or #mask end

function pieces.read(text)
  local a = text:find('\n', 1, true)
  local b = a and text:find('\n', a + 1, true)
  local c = b and text:find('\n', b + 1, true)
  local d = c and text:find('\n', c + 1, true)
  if not d then return nil end
  local e = text:find('\n', d + 1, true)
  local mask = text:sub(1, a - 1)
  return { mask = mask, n = size_of(mask), first = text:sub(a + 1, b - 1), state = text:sub(b + 1, c - 1),
    common = text:sub(c + 1, d - 1), args = text:sub(d + 1, (e or 0) - 1), own = e and text:sub(e + 1) }
end

function pieces.text_of(piece)
  return table.concat({ piece.mask, piece.first, piece.state, piece.common, piece.args, piece.own }, '\n')
end

function pieces.entry(number, piece)
  return (piece.state == '' and piece.first .. ':' or '') .. 'p' .. number
end

-- The entry of a single job has only hexadecimal digits and a colon, so `p` marks a piece.
function pieces.number_in(member)
  local mark = member:find('p', 1, true)
  return mark and member:sub(mark + 1)
end

function pieces.place_of(id)
  local number, at = id:match('^([1-9]%d*)(%d%d)$')
  if not number then return nil, nil end
  return number, tonumber(at) + 1
end

function pieces.has(piece, place) return piece.mask:sub(place, place) == '1' end

function pieces.ids(number, piece)
  local list = {}
  for place = 1, #piece.mask do
    if pieces.has(piece, place) then list[#list + 1] = number .. string.format('%02d', place - 1) end
  end
  return list
end

-- A job that leaves a waiting piece is placed before the piece, so that the job does not lose its turn.
function pieces.text_with(piece, id, place, args)
  local sequence = piece.state == '' and piece.first or time.digits(time.micros_of(piece.first) + place - 1)
  local text = '{"n":"' .. sequence .. '",' .. piece.state:gsub('@', id) .. piece.common
  if args ~= '' then text = text .. ',"a":' .. cjson.encode(args .. '') end
  return text .. '}'
end

local function put_together(piece, id, place)
  piece.list = piece.list or cjson.decode(piece.args)
  local text = pieces.text_with(piece, id, place, piece.list[place]):sub(1, -2)
  for field, list in pairs(cjson.decode(piece.own or '{}')) do
    text = text .. ',"' .. field .. '":' .. cjson.encode(list[place] .. '')
  end
  return text .. '}'
end

function pieces.document(piece, id, place)
  local ok, text = pcall(put_together, piece, id, place)
  return ok and text or nil
end
