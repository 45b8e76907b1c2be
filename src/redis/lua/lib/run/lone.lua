-- Jobs on which nothing hangs, and that nobody has asked anything of: no port, child, limit, callback or moment of theirs is to
-- be looked at. Most are so. How such a job stands is a text in front of what it is, as with a piece, and to lend it or to end it
-- changes that text alone: it is taken apart to see what it is, and never put together anew. Whoever else touches it writes its
-- fields in another order, or has its document at hand; then it is a job like all others. No change is noted one by one, for
-- nothing of it can be refused, and so none is taken back.
-- Made when first called, which most calls do.

local lone = {}

local ending = require 'job/ending'
local places = require 'job/places'
local counts = require 'queue/counts'
local claim = require 'run/claim'
local finish = require 'run/finish'
local packed = require 'run/packed'
local tokens = require 'run/tokens'
local cache = require 'runtime/cache'
local journal = require 'runtime/journal'
local leased = require 'runtime/leased'
local numbers = require 'runtime/numbers'
local readable = require 'runtime/readable'
local redis_keys = require 'runtime/redis_keys'
local time = require 'runtime/time'

-- What such a job may have, and where what it says is put down; 0 is nowhere. None of it has to do with whether it may be lent, or
-- with what follows from its end.
local QUEUE, CLASS, RETAIN, VERSION, SEQUENCE, SCOPE = 1, 2, 3, 4, 5, 6
local harmless = fields { sequence = SEQUENCE, created_at = 0, queue = QUEUE, class = CLASS, args = 0, priority = 0, created_by = 0, api_key = 0, retry = 0, timeout = 0, retain = RETAIN, retain_failed = 0, unique_scope = SCOPE, constraints_version = VERSION, has_shutdown = 0, quiet = 0 }
local said = {} -- by the job that was read last, as it is written

-- Reads a document as far as is wanted here, from its first field on: whether nothing hangs on it. What ends a field does not
-- stand within any, for there each quote has a stroke before it; where it seems to, at an end like `\","`, no name follows. Queues
-- and classes with a stroke in their names are for others to read.
local function is_lone(text, from)
  said[1], said[2], said[3], said[4], said[5], said[6] = '', '', '', '', '', ''
  while from do
    local mark, stop = text:find('"', from, true), (text:find('","', from, true))
    local place = mark and harmless[text:sub(from, mark - 1)]
    if not place then return false end
    if place > 0 then said[place] = text:sub(mark + 3, stop and stop - 1 or -3) end
    from = stop and stop + 3
  end
  return not (said[QUEUE] .. said[CLASS]):find('\\', 1, true)
end

-- What stands behind a token up to what the job is, and what that says.
local BEGIN = '{"z":"l","tk":"'
local known, till, ran, rest = '', 0, nil, nil

-- The next run, where it has completed and done nothing else, was the first of its job, has not been lost, and nothing hangs on the
-- job; nil for any other. Notes the key that the job holds, which is to be read.
function lone.take(keys)
  local from, token = at, ARGV[at + 1]
  local id = token:sub(1, (token:find('.', 1, true) or 1) - 1)
  local key, base = ns .. 'job:' .. id, #BEGIN + #token + 1
  local text = cache.raw[key]
  if ARGV[from + 3] ~= 'completed' or not text or text:sub(1, base - 1) ~= BEGIN .. token then return nil end
  if text:sub(base, base + #known - 1) ~= known or known == '' then
    -- It is the same for all of a claim.
    local _, stop = text:find(':1",', base, true)
    known = text:sub(base, stop or base)
    local over, begun
    over, begun, ran, rest = known:match('^","le":"(%d+)","k":"1",(.-)"l":"(%d+)",("m":"%d+:1",)$')
    till = (begun == '' or begun == '"bg":"1",') and tonumber(over) or 0
  end
  base = base + #known
  if till <= time.now or not is_lone(text, base + 1) then return nil end
  at = from + 5
  local q, class, scope, held = said[QUEUE], said[CLASS], said[SCOPE], nil
  if scope ~= '' then
    local head = q .. '\\n' .. class .. '\\n'
    held = scope:sub(#head + 1)
    if head .. held == scope and not held:find('\\', 1, true) then
      held = q .. '\n' .. class .. '\n' .. held
    else
      held = (readable.decode('["' .. scope .. '"]', key) or {})[1]
      if type(held) ~= 'string' then return nil end
    end
    held = ns .. 'unique:' .. held
    keys[#keys + 1] = held
  end
  return { from, id, token, key, text, base, ran .. rest .. ARGV[from + 2] .. said[RETAIN] .. q .. '\n' .. class, q, class, said[RETAIN], ran, rest, said[SEQUENCE], held }
end

-- What leaves an index, and what comes into it, as it is written: nobody else of a script does anything to those jobs.
local function moves_of(key)
  local moves = journal.within(cache.writes, write_lists.moves)
  journal.within(cache.writes.zsets, key)
  moves[key] = moves[key] or { {}, {} }
  return moves[key]
end

local function push_two(list, a, b)
  local n = #list
  list[n + 1], list[n + 2] = a, b
end

-- Texts that are written, and leases that come and go; those in the document of the queue, if some stand there.
local flat, leases, held_leases

-- Those of one queue and class that began at once and are kept as long: what is counted of them is counted together, and how they
-- stand then differs in the token.
local like, its_queue, its_class, began, keep, head, tail, completed
local since = {}

function lone.settle()
  if since[1] then counts.completed(its_queue, its_class, since, began) end
  since = {}
  like = nil
end

-- What became of such a run. Somebody of this batch may have touched its job since, or it goes at once.
function lone.finish(run, lane)
  local id, key, text, held = run[2], run[4], run[5], run[14]
  if like ~= run[7] then
    lone.settle()
    like, its_queue, its_class, began = run[7], run[8], run[9], run[11]
    keep = ending.removal(id, fields { retain = tonumber(run[10]) }, 'c')
    if keep > time.now then places.soonest(its_queue, queue_fields.next_removal, keep) end
    keep = keep > time.now and numbers.int(keep)
    local state, index = packed.completed_state('@', tonumber(ARGV[run[1] + 2]), began, run[12]), redis_keys.queue_key(its_queue, 'leases')
    local mark = state:find('@', 1, true)
    head = '{' .. state:sub(1, mark - 1)
    tail = state:sub(mark + 1)
    flat = journal.within(cache.writes, write_lists.flat)
    leases = moves_of(index)[1]
    held_leases = cache.queue(its_queue).leased and cache.writes.zsets[index]
    completed = moves_of(redis_keys.queue_key(its_queue, 'completed'))[2]
  end
  if cache.docs[id] ~= nil or cache.raw[key] ~= text or not keep then return finish.commit(finish.take_run(run[1]), lane) end
  if held and cache.text_at(held) == id then
    cache.raw[held] = false
    cache.del(held)
  end
  cache.raw[key] = head .. run[3] .. tail .. text:sub(run[6])
  push_two(flat, key, cache.raw[key])
  push_two(completed, keep, id)
  if held_leases then held_leases[id] = false else leases[#leases + 1] = id end
  since[#since + 1] = run[13]
  journal.puts = journal.puts + 5
  return 'completed'
end

local few, ready, ends, begun, later

-- Lends one to a lane that takes what comes, where the queue has no say in it; nil where it is not such a job, 'stop' where the
-- claim ends with it.
local function lend(member, id, want, got)
  local key, moment = ns .. 'job:' .. id, time.now + want.lease
  local text = cache.docs[id] == nil and cache.raw[key]
  if not text or not is_lone(text, 3) or said[SEQUENCE] ~= member:sub(1, 13) or said[VERSION] ~= want.version or said[QUEUE] ~= want.queue then return nil end
  local n, bytes = got.n, got.bytes + #text
  if bytes > claim.MOST then return nil end
  if not ready then
    local index = redis_keys.queue_key(want.queue, 'leases')
    ends = numbers.int(moment)
    flat = journal.within(cache.writes, write_lists.flat)
    ready = moves_of(got.key)[1]
    leases = moves_of(index)[2]
    -- Few stand in their queue's document, if those of others leave room.
    held_leases = few and cache.writes.zsets[index]
    begun = packed.lent_state('', ends, true):sub(#BEGIN)
    later = packed.lent_state('', ends, false):sub(#BEGIN)
    places.soonest(want.queue, queue_fields.next_lease, moment)
  end
  cache.raw[key] = BEGIN .. tokens.next(id, '1', '') .. (n < want.begun and begun or later) .. text:sub(2)
  push_two(flat, key, cache.raw[key])
  ready[#ready + 1] = member
  if held_leases then
    held_leases[id], leased.newly_lent[id] = moment, true
  else
    push_two(leases, ends, id)
  end
  journal.puts = journal.puts + 4
  got.bytes, got.n = bytes, n + 1
  got.ids[#got.ids + 1] = id
  return n + 1 + got.failed >= want.max and 'stop'
end

-- Those of these jobs that may have limits of their own. A claim that asks so has others lent by their texts.
function lone.limited(ids, want)
  local list = {}
  want.lend = lend
  few = #ids <= leased.MOST
  for i = 1, #ids do
    local text = cache.raw[ns .. 'job:' .. ids[i]]
    if not text or text:find('"' .. fields.limits .. '":', 1, true) then list[#list + 1] = ids[i] end
  end
  return list
end

return lone
