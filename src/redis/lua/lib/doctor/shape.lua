-- The types of the fields of a document. Scripts check only its sequence, queue and class.

local shape = {}

local numeric = { quota_bytes = 1, created_at = 1, priority = 1, redeliver_after_ms = 1, max_deliveries = 1,
  deliveries = 1, ran_at = 1, previous_ran_at = 1, ended_at = 1, lease_until = 1, lease_length = 1, next_commit = 1,
  run_number = 1, failures = 1, lost_runs = 1, max_lost = 1, lost_in_a_row = 1, conflicts_in_a_row = 1, not_before = 1,
  backoff_until = 1, lock_until = 1, next_slot = 1, catch_up_at = 1, failed_in_a_row = 1, sleep_until = 1, timeout = 1,
  keep_result = 1, result_until = 1, descendants = 1, waits_for_count = 1, group_concurrency = 1, ends_told = 1,
  callback_end = 1, resent_at = 1, scheduled_for = 1, history = 1, history_kept = 1, runs_noted = 1, recorded = 1,
  waited_until = 1 }

local json = { aliases = 1, awaited_children = 1, redacts = 1, repeats = 1 }

local places = {
  [PLACE.pull] = 1,
  [PLACE.timers] = 1,
  [PLACE.leased] = 1,
  [PLACE.limited] = 1,
  [PLACE.suspended] = 1,
  [PLACE.completed] = 1,
  [PLACE.failed] = 1,
  [PLACE.terminated] = 1,
}

local function is_json(text) return (pcall(cjson.decode, '[' .. text .. ']')) end

local function fault_of(field, value)
  if type(value) ~= 'string' then return 'is not text' end
  if numeric[field] and not tonumber(value) then return 'is not a number' end
  if field == fields.sequence and not value:match('^%x%x%x%x%x%x%x%x%x%x%x%x%x$') then return 'is not a sequence' end
  if field == fields.place and not places[value] then return 'is not a place' end
  if value == '^' then return nil end
  if field:find('^[io]:') and not value:find('^%d+,%d+') then return 'is not a count' end
  if (json[field] or field:find('^v[io]:') or field:find('^c[io]:')) and not is_json(value) then
    return 'is not JSON'
  end
  if field == fields.waits_for and value ~= '*' and not is_json(value) then return 'is not JSON' end
end

function shape.faults_of(doc)
  local found = {}
  for field, value in pairs(doc) do found[field] = field ~= 'gone' and fault_of(field, value) or nil end
  return found
end

return shape
