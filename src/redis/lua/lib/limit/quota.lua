local grown = {} -- API key or tenant → true if this script adds to its jobs or bytes
local allowed = {}
local caller
local KIB = 1024 -- bytes counted for the document of an unfinished job, whatever its size
local WAIT = '5' -- seconds
local DAY, QUARTER = 86400000, 21600000
local TENANT = 'key:tenant'
local EXPIRING = 3
local LAST = 7

local function key_of_quota(by) return ns .. 'quota:' .. by:match('^key:(.*)$') end

local function read_quota(by)
  local jobs, bytes, most_jobs,
    most_bytes = (cache.text_at(key_of_quota(by)) or '0,0,,'):match('^(%d+),(%d+),(%d*),(%d*)$')
  local allowed = allowed[by] or { most_jobs, most_bytes }
  return tonumber(jobs), tonumber(bytes), allowed[1], allowed[2]
end

local function accounts(by) return { by, ns:match('t:[a-z0-9-]+:$') and TENANT } end

function quota.add(key, jobs, bytes)
  for _, by in ipairs(accounts(key)) do
    local old_jobs, old_bytes, most_jobs, most_bytes = read_quota(by)
    if jobs > 0 or bytes > 0 then journal.put(grown, by, true) end
    cache.set_text(key_of_quota(by),
      math.max(0, old_jobs + jobs) .. ',' .. math.max(0, old_bytes + bytes) .. ','
      .. most_jobs .. ',' .. most_bytes)
  end
end

-- `text`: maxima as `key:<id> jobs,bytes,jobs,bytes`. The last two are for the tenant.
function quota.allow(text, once_for)
  local by, jobs, bytes, tenant_jobs, tenant_bytes = text:match('^(%S+) (%d+),(%d+),(%d*),(%d*)$')
  if not by then return '' end
  caller, allowed[by], allowed[TENANT] = by, { jobs, bytes }, { tenant_jobs, tenant_bytes }
  if (tonumber(once_for) or 0) >= DAY then journal.put(grown, by, true) end
  return by
end

local function kept_key(by) return key_of_quota(by) .. ':kept' end

local function read_kept(by)
  local list = {}
  for n in (cache.text_at(kept_key(by)) or '0'):gmatch('%d+') do list[#list + 1] = tonumber(n) end
  local quarter = math.floor(time.now / QUARTER)
  local passed = quarter - (list[2] or quarter)
  for i = LAST, EXPIRING, -1 do list[i] = i - passed >= EXPIRING and list[i - passed] or 0 end
  list[2] = quarter
  return list
end

local function kept_by(by)
  local list = read_kept(by)
  local sum = list[1]
  for i = EXPIRING, LAST do sum = sum + list[i] end
  return sum
end

function quota.keep(key, more, at)
  at = at or 1
  for _, by in ipairs(accounts(key)) do
    if more > 0 then journal.put(grown, by, true) end
    local list = read_kept(by)
    list[at] = math.max(0, list[at] + more)
    cache.set_text(kept_key(by), table.concat(list, ','))
  end
end

function quota.expire(bytes, ms, key)
  key = key or caller
  if key then quota.keep(key, math.ceil(bytes * math.min(1, ms / DAY)), EXPIRING) end
end

function quota.keep_job(doc, bytes)
  local more = bytes - (doc.kept_bytes or 0)
  if more == 0 then return end
  journal.put(doc, fields.kept_bytes, bytes > 0 and numbers.int(bytes) or nil)
  quota.keep(doc.api_key, more)
end

function quota.follow(id, doc)
  local bytes = values.of(doc)
  quota.keep_job(doc, states.resting[doc.place] and bytes + #cache.document(id) or 0)
  local more = bytes - doc.quota_bytes
  if more == 0 or states.resting[doc.place] or doc.place == PLACE.new then return end
  journal.put(doc, fields.quota_bytes, numbers.int(bytes))
  quota.add(doc.api_key, 0, more)
end

local function over(by, more)
  local jobs, bytes, most_jobs, most_bytes = read_quota(by)
  if most_jobs ~= '' and jobs > tonumber(most_jobs) then return 'jobs that have not ended', most_jobs, jobs end
  bytes = bytes + KIB * jobs + more + kept_by(by)
  if most_bytes ~= '' and bytes > tonumber(most_bytes) then
    return 'bytes of jobs and stored graphs', most_bytes, bytes .. '. Delete some of them'
  end
end

local function title(by)
  if by == TENANT then return 'tenant ' .. ns:match('t:([^:]+):$') end
  return 'API ' .. by:gsub(':', ' ', 1)
end

function quota.check()
  local more = {}
  for id in pairs(cache.dirty) do
    local doc = cache.docs[id]
    local bytes = doc and doc.quota_bytes and values.of(doc) + (values.added[id] or 0) - doc.quota_bytes or 0
    if bytes > values.BIG then
      for _, by in ipairs(accounts(doc.api_key)) do more[by] = (more[by] or 0) + bytes end
    end
  end
  for by in pairs(grown) do more[by] = more[by] or 0 end
  for by, bytes in pairs(more) do
    local what, most, got = over(by, bytes)
    if what then
      journal.refuse('LIMITED', title(by) .. ': expected at most ' .. most .. ' ' .. what .. ', got ' .. got, nil, WAIT)
    end
  end
end
