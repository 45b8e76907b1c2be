-- Jobs on which nothing hangs, and that nobody has asked anything of: no port, child, limit, callback or moment of theirs is to
-- be looked at. Most are so. How such a job stands is a text in front of what it is, as with a piece, and to lend it or to end it
-- changes that text alone: it is taken apart to see what it is, and never put together anew. Whoever else touches it writes its
-- fields in another order, or has its document at hand; then it is a job like all others. No change is noted one by one, for
-- nothing of it can be refused, and so none is taken back.
-- Made when first called, which most calls do.

local lone = {}

local ending = require 'job/ending'
local places = require 'job/places'
local unique = require 'job/unique'
local counts = require 'queue/counts'
local claim = require 'run/claim'
local finish = require 'run/finish'
local packed = require 'run/packed'
local tokens = require 'run/tokens'
local cache = require 'runtime/cache'
local journal = require 'runtime/journal'
local leased = require 'runtime/leased'
local numbers = require 'runtime/numbers'
local redis_keys = require 'runtime/redis_keys'
local time = require 'runtime/time'
local docs, fetch_jobs, raw, writes = cache.docs, cache.fetch_jobs, cache.raw, cache.writes
local within = journal.within
local newly_lent = leased.newly_lent
local int = numbers.int
local key_of, queue_key = redis_keys.key_of, redis_keys.queue_key
local now = time.now

-- What such a job may have: none of it has to do with whether it may be lent, or with what follows from its end.
local harmless = fields { sequence = 1, created_at = 1, queue = 1, class = 1, args = 1, priority = 1, created_by = 1, api_key = 1, retry = 1, timeout = 1, retain = 1, retain_failed = 1, unique_scope = 1, constraints_version = 1, has_shutdown = 1, quiet = 1 }

local function is_lone(doc)
  for field in pairs(doc) do
    if not harmless[field] then return false end
  end
  return doc.args ~= '^'
end

-- A run that has completed, of those that did nothing else: where its arguments stand, its job and its token; nil for any other.
function lone.take()
  local from = at
  if ARGV[from + 3] ~= 'completed' then return nil end
  at = from + 5
  local token = ARGV[from + 1]
  return { from, token:sub(1, (token:find('.', 1, true) or 1) - 1), token }
end

-- What stands behind a token up to what the job is, and what that says.
local known, till, begun, ran, rest = '', nil, nil, nil, nil

-- Whether the first run of a job is under way under this token, has not been lost, and nothing hangs on the job. Puts down what
-- the job is, as a document, where that begins in its text, when the run began, and the rest of how it stands.
local function is_under_way(run)
  local id, token = run[2], run[3]
  local text = docs[id] == nil and raw[key_of(id)]
  local at = 16 + #token
  if not text or text:sub(1, at - 1) ~= '{"z":"l","tk":"' .. token then return false end
  if text:sub(at, at + #known - 1) ~= known or known == '' then
    -- It is the same for all of a claim.
    local _, stop = text:find(':1",', at, true)
    known = text:sub(at, stop or at)
    till, begun, ran, rest = known:match('^","le":"(%d+)","k":"1",(.-)"l":"(%d+)",("m":"%d+:1",)$')
  end
  local base = at + #known
  local doc = (begun == '' or begun == '"bg":"1",') and tonumber(till) > now and cjson.decode('{' .. text:sub(base))
  if not doc or not is_lone(doc) then return false end
  run[4], run[5], run[6], run[7] = doc, base, ran, rest
  return true
end

-- Makes those runs of others like all others; of the keys that jobs hold, notes which are to be read.
function lone.sort(runs, keys)
  local ids = {}
  for i = 1, #runs do ids[#ids + 1] = runs[i][2] end
  fetch_jobs(ids)
  for i = 1, #runs do
    local run = runs[i]
    if run[2] and not is_under_way(run) then
      runs[i] = finish.take_run(run[1])
    elseif run[2] then
      local doc = run[4]
      if doc.unique_scope then keys[#keys + 1] = ns .. 'unique:' .. doc.unique_scope end
    end
  end
end

-- Those of one queue and class that began at once and are kept as long: what is counted of them is counted together.
local together = { since = {} }

function lone.settle()
  local of = together
  if of.since[1] then counts.completed(of.queue, of.class, of.since, of.ran) end
  together = { since = {} }
end

-- What became of such a run. Somebody of this batch may have touched its job since, or it goes at once.
function lone.finish(run, lane)
  local id, doc, ran = run[2], run[4], run[6]
  local key, of = key_of(id), together
  if of.class ~= doc.class or of.ran ~= ran or of.queue ~= doc.queue or of.retain ~= doc.retain then
    lone.settle()
    of = together
    local q, keep = doc.queue, ending.removal(id, doc, 'c')
    of.queue, of.class, of.retain, of.ran, of.keep = q, doc.class, doc.retain, ran, keep
    of.leases, of.completed = within(writes.zsets, queue_key(q, 'leases')), within(writes.zsets, queue_key(q, 'completed'))
    if keep > now then places.soonest(q, queue_fields.next_removal, keep) end
  end
  if docs[id] ~= nil or writes.strings[key] or of.keep <= now then return finish.commit(finish.take_run(run[1]), lane) end
  if doc.unique_scope then unique.free(id, doc) end
  writes.strings[key] = '{' .. packed.completed_state(run[3], tonumber(ARGV[run[1] + 2]), ran, run[7]) .. raw[key]:sub(run[5])
  of.leases[id], of.completed[id], newly_lent[id] = false, of.keep, false
  of.since[#of.since + 1] = doc.sequence
  journal.puts = journal.puts + 5
  return 'completed'
end

-- Lends one to a lane that takes what comes, where the queue has no say in it; nil where it is not such a job, 'stop' where the
-- claim ends with it.
function lone.lend(member, id, doc, want, got)
  local key = key_of(id)
  local text = raw[key]
  if doc.queue ~= want.queue or (doc.constraints_version or '') ~= want.version or not text or text:sub(1, 1) ~= '{' or writes.strings[key] or cache.dirty[id] or not is_lone(doc) then return nil end
  local n, bytes, till = got.n, got.bytes + #text, now + want.lease
  if bytes > claim.MOST then return nil end
  if not got.leases then
    got.ready, got.leases = within(writes.zsets, got.key), within(writes.zsets, queue_key(want.queue, 'leases'))
    places.soonest(want.queue, queue_fields.next_lease, till)
  end
  docs[id] = nil
  writes.strings[key] = '{' .. packed.lent_state(tokens.next(id, '1', ''), int(till), n < want.begun) .. text:sub(2)
  got.ready[member], got.leases[id] = false, till
  if newly_lent[id] == nil then newly_lent[id] = true end
  journal.puts = journal.puts + 4
  got.bytes, got.n = bytes, n + 1
  got.ids[#got.ids + 1] = id
  return n + 1 + got.failed >= want.max and 'stop'
end

return lone
