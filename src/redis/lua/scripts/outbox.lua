-- Deletes entries of the outbox that the history has stored, and returns the next entries.
--
-- keys: the head, and texts that the caller expects to read
-- by: dispatcher, tick
-- updates: outbox, schema
-- begin: '1' starts a history if there is none, 'end' ends it and deletes all entries
-- retain: default retention of ended jobs in Redis, in milliseconds, or ''
-- stored: number of the first stored entry

local begin, retain, stored, most = args.take(), args.take(), args.take_int(), args.take_int()

-- Milliseconds between updates of `seen`, which shows other deployments that the outbox is read.
local SEEN_EVERY = 60000

cache.makes_room = true
cache.fetch(KEYS)
local head = outbox.head()
if not head and begin == '1' then head = { from = 1, till = 1, bytes = 0, seen = 0, retain = retain } end
if not head then return reply.outbox { from = 0, till = 0, bytes = 0, seen = 0, texts = {} } end

local before, stored_bytes = head.from, args.take_list()
for i, bytes in ipairs(begin == 'end' and {} or stored_bytes) do
  local number = stored + i - 1
  if number == head.from and number < head.till then
    cache.replace_text(outbox.key(number), nil)
    head.from, head.bytes = number + 1, math.max(0, head.bytes - bytes)
  end
end
if head.from == head.till then head.bytes = 0 end
if begin == 'end' then
  outbox.drop(head, most)
elseif head.from > before or time.now - head.seen > SEEN_EVERY or (begin == '1' and head.retain ~= retain) then
  head.seen = time.now
  if begin == '1' then head.retain = retain end
  outbox.set_head(head)
end
store.write()

local keys, texts = {}, {}
for number = head.from, math.min(head.till, head.from + most) - 1 do keys[#keys + 1] = outbox.key(number) end
cache.fetch(keys)
for i = 1, #keys do texts[i] = cache.raw[keys[i]] or '' end
return reply.outbox { from = head.from, till = head.till, bytes = head.bytes, seen = head.seen, texts = texts }
