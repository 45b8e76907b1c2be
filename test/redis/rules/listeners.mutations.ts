import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    30,
    'lib/port/write.lua',
    [
      "for _, level in ipairs(all) do cache.publish('live:' .. level, text) end",
      "cache.publish('live:' .. channel, text)",
      'a listener of a channel above receives no message',
    ],
    [
      "for _, level in ipairs(all) do cache.publish('live:' .. level, text) end",
      "for _, level in ipairs(all) do redis.call('PUBLISH', ns .. 'live:' .. level, text) end",
      'messages of a refused run are published',
    ],
  ),
  ...of(30, 'lib/port/hints.lua', [
    'if system > 0 or till > time.now then',
    'if system > 0 then',
    'a listener outside receives no statuses',
  ]),
  ...of(
    30,
    'lib/port/hints.lua',
    [
      'return hints.set { till = math.max(till, time.now + ms) }',
      'return hints.set { till = time.now + ms }',
      'a short-lived listener to all cuts off the rest',
    ],
    [
      'known[channel] = math.max(known[channel] or 0, time.now + ms)',
      'known[channel] = time.now + ms',
      'a short-lived listener to a channel cuts off the rest',
    ],
    [
      'if tonumber(till) > time.now then\n      listened.till',
      'if true then\n      listened.till',
      'a listener is never forgotten',
    ],
    [
      'if till > time.now then return levels end',
      'if true then return levels end',
      'all messages are published outside, for any listener',
    ],
    ['#lines > MOST_LISTENED', 'false', 'any number of channels is stored'],
  ),
  ...of(30, 'lib/run/packed.lua', [
    '    if hints.hears_job(one) then hints',
    '    if false then hints',
    'the creation of a packed job with a listener is not published',
  ]),
  ...of(
    30,
    'lib/queue/waiters.lua',
    ['        break\n', '', 'a job calls all claims that wait'],
    [
      "if class == '' or globs.steps <= 0 or globs.match(class, claim.patterns, claim.known) then",
      'if true then',
      'a job calls any waiting claim',
    ],
    ['        table.remove(claims, i)\n', '', 'two jobs call one claim'],
    [
      "'(' .. time.now_text, '+inf', 'LIMIT', 0, MAX_CALLS",
      "'-inf', '+inf', 'LIMIT', 0, MAX_CALLS",
      'a departed claim is called',
    ],
    [
      '  if till > time.now then cache.change_queue(q, queue_fields.pulls_until, math.max(cache.queue(q).pulls_until or 0, till)) end\n',
      '',
      'no claim is called',
    ],
    ['till > time.now and till)', 'till > time.now and till or nil)', 'a claim that stops waiting is still listed'],
  ),
  ...of(30, 'scripts/commit.lua', [
    "#ids == 0 and signal == '' and time.now + wait or time.now)",
    'time.now + wait)',
    'a served claim is called for the next job',
  ]),
  ...of(30, 'lib/job/places.lua', [
    '  if doc.place == PLACE.pull then journal.push(journal.within(places.to_call, doc.queue), doc.class) end\n',
    '',
    'a due job calls no claim',
  ]),
]
