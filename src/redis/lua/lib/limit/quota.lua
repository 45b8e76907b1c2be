-- What one API key may have waiting: jobs that have not ended, and their bytes. A text for each key that has such a limit:
-- `jobs,bytes,most jobs,most bytes`; and each of its jobs says with how many bytes beside its document it is counted.

local quota = {}

local states = require 'job/states'
local values = require 'job/values'
local cache = require 'runtime/cache'
local journal = require 'runtime/journal'
local numbers = require 'runtime/numbers'
local redis_keys = require 'runtime/redis_keys'

local grown = {} -- the keys whose count this script has made larger
local allowed = {}
local KIB = 1024 -- what each job counts with, at least: its document
local WAIT = '5' -- after so many seconds some may have ended
local function key_of_quota(by) return ns .. 'quota:' .. by:match('^key:(.*)$') end

local function read_quota(by)
  local jobs, bytes, most_jobs, most_bytes = (cache.text_at(key_of_quota(by)) or '0,0,,'):match('^(%d+),(%d+),(%d*),(%d*)$')
  local allowed = allowed[by] or { most_jobs, most_bytes }
  return tonumber(jobs), tonumber(bytes), allowed[1], allowed[2]
end

local function write_quota(by, jobs, bytes, most_jobs, most_bytes)
  cache.set_text(key_of_quota(by), numbers.int(math.max(0, jobs)) .. ',' .. numbers.int(math.max(0, bytes)) .. ',' .. most_jobs .. ',' .. most_bytes)
end

function quota.add(by, jobs, bytes)
  local old_jobs, old_bytes, most_jobs, most_bytes = read_quota(by)
  if jobs > 0 or bytes > 0 then journal.put(grown, by, true) end
  write_quota(by, old_jobs + jobs, old_bytes + bytes, most_jobs, most_bytes)
end

-- Counts a job that begins (1) or ends (-1) to use its quota.
function quota.count(doc, n) quota.add(doc.api_key, n, n * tonumber(doc.quota_bytes)) end

-- The quota that the current caller has.
function quota.allow(by, most_jobs, most_bytes) allowed[by] = { most_jobs, most_bytes } end

-- Bytes that a key keeps: jobs at rest and stored graphs.
local function kept_key(by) return key_of_quota(by) .. ':kept' end
local function kept_by(by) return tonumber(cache.text_at(kept_key(by)) or 0) end

function quota.keep(by, more)
  if more > 0 then journal.put(grown, by, true) end
  cache.set_text(kept_key(by), numbers.int(math.max(0, kept_by(by) + more)))
end

-- A job at rest counts its values, and its document beyond 1 KiB.
function quota.keep_job(doc, bytes)
  local more = bytes - tonumber(doc.kept_bytes or 0)
  if more == 0 then return end
  journal.put(doc, fields.kept_bytes, bytes > 0 and numbers.int(bytes) or nil)
  quota.keep(doc.api_key, more)
end

-- Adjusts the bytes of a counted job to its current size.
function quota.follow(id, doc)
  local bytes = values.of(doc)
  quota.keep_job(doc, states.resting[doc.place] and bytes + math.max(0, #(cache.raw[redis_keys.key_of(id)] or '') - KIB) or 0)
  local more = bytes - tonumber(doc.quota_bytes)
  if more == 0 or states.resting[doc.place] or doc.place == 'new' then return end
  journal.put(doc, fields.quota_bytes, numbers.int(bytes))
  quota.add(doc.api_key, 0, more)
end

local function over(by, more)
  local jobs, bytes, most_jobs, most_bytes = read_quota(by)
  if most_jobs ~= '' and jobs > tonumber(most_jobs) then return 'jobs that have not ended', most_jobs, jobs end
  bytes = bytes + KIB * jobs + more + kept_by(by)
  if most_bytes ~= '' and bytes > tonumber(most_bytes) then return 'bytes of jobs and stored graphs; delete some of them', most_bytes, bytes end
end

-- Refuses a call if a key has too many jobs or bytes.
function quota.check()
  local more = {}
  for id in pairs(cache.dirty) do
    local doc = cache.docs[id]
    local bytes = doc and doc.quota_bytes and values.of(doc) + (values.added[id] or 0) - tonumber(doc.quota_bytes) or 0
    if bytes > values.BIG then more[doc.api_key] = (more[doc.api_key] or 0) + bytes end
  end
  for by in pairs(grown) do more[by] = more[by] or 0 end
  for by, bytes in pairs(more) do
    local what, most, came = over(by, bytes)
    if what then journal.refuse('LIMITED', 'API ' .. by:gsub(':', ' ', 1) .. ': expected at most ' .. most .. ' ' .. what .. ', got ' .. numbers.int(came), nil, WAIT) end
  end
end

return quota
