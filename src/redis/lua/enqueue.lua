-- enqueue: make jobs, all or none of them, or find what their keys stand for.
--
-- keys: what is read anyway: the idempotency key, the queues, the id counter, the hints
-- args: ns, clock, seed, once, once_for, fingerprint, tagged, ...
-- returns: {'made', answers, rings} | {'again', answers} | {'refused', code, message, which}
--          | {'stale', constraints}: they were tagged by older ones
--          answers = [id, status, 'existing' or ''] each

-- @include lib/base
-- @include lib/store
-- @include lib/status
-- @include lib/ports
-- @include lib/family
-- @include lib/limits
-- @include lib/create
-- @include lib/waiters
-- @include lib/queues

fetch(KEYS)

local known = once ~= '' and text_at(once)
if known then
  local print, answers = known:match('^([^\n]*)\n(.*)$')
  if print ~= fingerprint then return { 'refused', 'TAKEN', 'this Idempotency-Key was used for another body', '' } end
  return { 'again', cjson.decode(answers) }
end

local _, _, version = hints()
if version ~= tagged then return { 'stale', text_at(ns .. 'constraints') or '' } end

local answers, n = {}, take_int()
for i = 1, n do
  local ok, why = attempt(function()
    local id, status, existing = create(take_spec())
    answers[i] = { id, status, existing and 'existing' or '' }
  end)
  if not ok then return { 'refused', why.code, why.message, int(i - 1) } end
end

ring_all()
ring_timers()
if once ~= '' then set_expiring(once, fingerprint .. '\n' .. cjson.encode(answers), tonumber(once_for)) end
flush()
return { 'made', answers, rings }
