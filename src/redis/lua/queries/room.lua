-- room: one limit from near: who holds its slots, who waits for them in order, and when there is room again. Read only.
--
-- keys: none
-- by: API, dashboard
-- reads: job, jobs, limit, limits, queue
-- writes: none
-- args: ns, clock, seed, key, most_holders:int, most_waiting:int
-- returns: room | none

local limits = require 'limit/limits'
local cache = require 'runtime/cache'
local numbers = require 'runtime/numbers'
local redis_keys = require 'runtime/redis_keys'
local time = require 'runtime/time'
local fetch_jobs, find = cache.fetch_jobs, cache.find
local int, never = numbers.int, numbers.never
local limit_key = redis_keys.limit_key
local moment_of_sequence, now = time.moment_of_sequence, time.now

local state = limits.at(key)
if not state.settings or state.settings.gone then return reply.none {} end
local moment = limits.next_room(key)
local held = most_holders > 0 and redis.call('ZRANGEBYSCORE', limit_key(key, 'held'), '(' .. int(now), '+inf', 'WITHSCORES', 'LIMIT', 0, most_holders) or {}
local members = most_waiting > 0 and redis.call('ZRANGE', limit_key(key, 'waiting'), 0, most_waiting - 1) or {}
local ids = {}
for i = 1, #held, 2 do ids[#ids + 1] = held[i] end
for _, member in ipairs(members) do ids[#ids + 1] = member:sub(15) end
fetch_jobs(ids)

local holders, line = {}, {}
for i = 1, #held, 2 do
  local doc = find(held[i])
  if doc then holders[#holders + 1] = row_of.holder { job = held[i], lease_until = held[i + 1], queue = doc.queue, class = doc.class, group = doc.group or '', ran_at = doc.ran_at or '', process = doc.process or '' } end
end
for _, member in ipairs(members) do
  local id = member:sub(15)
  local doc = find(id)
  if doc then line[#line + 1] = row_of.in_line { job = id, queue = doc.queue, class = doc.class, group = doc.group or '', priority = doc.priority or '0', since = int(moment_of_sequence(doc.sequence)) } end
end
local waiting = redis.call('ZCARD', limit_key(key, 'waiting'))
return reply.room { document = cjson.encode(state.settings), held = int(state.held), started = int(state.started), waiting = int(waiting), next_room = moment < never and int(moment) or '', now = int(now), holders = holders, line = line }
