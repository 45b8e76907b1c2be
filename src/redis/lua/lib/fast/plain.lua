-- Plain jobs, lent and ended as text. Most jobs have nothing beside their documents, run once and are done: they need no
-- decoding and no encoding. The text of such a document begins with a space, which no encoder writes: whatever else
-- changes the job takes the mark away, and from then on it goes the long way.
--
--   ready:  ␣{"n":"<sequence>","q":"<queue>",…
--   lent:   ␣{"n":"<sequence>","z":"l","tk":"<token>","le":"<lease end>",…,"l":"<now>","m":"<minute>:1","q":"<queue>",…

local plain = {}

local ending = require 'job/ending'
local places = require 'job/places'
local quota = require 'limit/quota'
local hints = require 'port/hints'
local counts = require 'queue/counts'
local tokens = require 'run/tokens'
local cache = require 'runtime/cache'
local journal = require 'runtime/journal'
local numbers = require 'runtime/numbers'
local redis_keys = require 'runtime/redis_keys'
local time = require 'runtime/time'
local dirty, docs, find, queue, set_text, text_at, zset = cache.dirty, cache.docs, cache.find, cache.queue, cache.set_text, cache.text_at, cache.zset
local put = journal.put
local int = numbers.int
local key_of, queue_key = redis_keys.key_of, redis_keys.queue_key
local moment_of_sequence, now, now_text, this_minute = time.moment_of_sequence, time.now, time.now_text, time.this_minute

local SPACE, SEQUENCE, REST = 32, 8, 23
local LENT = '"z":"l","tk":"'

-- The text of a job that is plain, and that nothing in this script has decoded; nil for every other.
function plain.text(id)
  if docs[id] ~= nil or hints.hears_job(id) then return nil end
  local text = text_at(key_of(id))
  return text and text:byte() == SPACE and text or nil
end

-- Whether a claim may lend plain jobs unseen: it takes whatever comes, no class has a limit of its own, and nobody listens to all jobs.
function plain.suits(want)
  return want.place == '' and #want.patterns == 0 and want.version == '' and not queue(want.queue).banned and not queue(want.queue).bounded_classes and not hints.hears_all_jobs()
end

-- The text of a plain job that is ready, as the index names it; nil when it is none.
function plain.ready(id, member)
  local text = plain.text(id)
  local is_it = text and text:find(member:sub(1, 13), SEQUENCE, true) == SEQUENCE and text:find(LENT, REST, true) ~= REST
  return is_it and text or nil
end

function plain.lend(id, text, member, want, begun)
  local till = now + want.lease
  local lease = LENT .. tokens.next(id, '1', '') .. '","le":"' .. int(till) .. '","k":"1",' .. (begun and '"bg":"1",' or '')
  set_text(key_of(id), text:sub(1, REST - 1) .. lease .. '"l":"' .. now_text .. '","m":"' .. this_minute .. ':1",' .. text:sub(REST))
  zset(queue_key(want.queue, 'ready'), member, false)
  zset(queue_key(want.queue, 'leases'), id, till)
  places.soonest(want.queue, queue_fields.next_lease, till)
  return id
end

-- For how long a job that was lent had been ready.
function plain.waited(id)
  local text = plain.text(id)
  local n = text and text:sub(SEQUENCE, SEQUENCE + 12) or nil
  if not n then
    local doc = find(id)
    n = doc.sequence
  end
  return math.max(0, now - moment_of_sequence(n))
end

-- Whether a plain job is lent under this token.
function plain.holds(id, token)
  local text = plain.text(id)
  return text ~= nil and text:find(LENT .. token .. '","le":"', REST, true) == REST
end

local own_queue -- as it stands in the documents of the lane's jobs

-- Ends a run of this lane that has completed and done nothing else, of a plain job; answers its status, nil when it is not so.
function plain.finish(run, q, lane)
  if run.ending ~= 'completed' or run.size > 0 or lane == '' or hints.hears_all_jobs() then return nil end
  local id = run.id
  if not plain.holds(id, run.token) then return nil end
  local text = plain.text(id)
  local till, began, ran, rest = text:match('^","le":"(%d+)",.-()"l":"(%d+)","m":"[%d:]+",()', REST + #LENT + #run.token)
  own_queue = own_queue or '"q":' .. cjson.encode(q) .. ','
  if tonumber(till) <= now or text:find(own_queue, rest, true) ~= rest then return nil end
  local _, before = text:find('"rd":"', rest, true)
  local keep = now + (tonumber((text:match('^%d+', (before or #text) + 1))) or ending.DAY)
  zset(queue_key(q, 'leases'), id, false)
  if text:find('"kl":"', rest, true) then quota.add(text:match('"by":"(key:%x+)"', rest), -1, 0) end
  counts.add(q, 'runs')
  counts.add(q, 'completed')
  if keep <= now then
    put(docs, id, false)
    put(dirty, id, true)
    return 'completed'
  end
  local ended = '"z":"c","e":"' .. now_text .. '","su":"1","k":"2","lr":"' .. ran .. ',' .. now_text .. ',completed,1","cm":"' .. run.token .. '|' .. int(run.n) .. '|completed",'
  set_text(key_of(id), text:sub(2, REST - 1) .. ended .. text:sub(began))
  zset(queue_key(q, 'completed'), id, keep)
  places.soonest(q, queue_fields.next_removal, keep)
  return 'completed'
end

return plain
