-- enqueue: make jobs, all or none of them, or find what their keys stand for.
--
-- keys: what is read anyway: the idempotency key, the queues, the id counter, the hints
-- args: ns, clock, seed, once, once_for, fingerprint, tagged, ...
-- returns: {'made', answers, rings} | {'again', answers} | {'refused', code, message, which}
--          | {'stale', constraints}: they were tagged by older ones
--          answers = [id, status, 'existing' or ''] each; of a new job that is queued, its id alone
--          rest: what jobs have in common, how many they are, the args of each; as often as the first number says

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

local answers = {}
local ok, why = try(function()
  for _ = 1, take_int() do
    local spec = take_spec()
    for _ = 1, take_int() do
      local id, status, existing = create(spec, take())
      answers[#answers + 1] = (existing or status ~= 'queued') and { id, status, existing and 'existing' or '' } or id
    end
  end
end)
if not ok then return { 'refused', why.code, why.message, int(#answers) } end

ring_all()
ring_timers()
if once ~= '' then set_expiring(once, fingerprint .. '\n' .. cjson.encode(answers), tonumber(once_for)) end
flush()
return { 'made', answers, rings }
