import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    34,
    'lib/job/ending.lua',
    ['  if is_known then return end\n', '', 'terminating an ended job reports it again'],
    [
      "if (doc.callback or doc.keep_result) and states.ends[was] then cache.change(id, doc, fields.end_was_told, '1') end",
      '',
      'terminating an ended job reports it again, after its shutdown',
    ],
  ),
  ...of(34, 'lib/job/rerun.lua', [
    'fields.terminating, fields.end_was_told',
    'fields.terminating',
    'a further end is mistaken for a reported end',
  ]),
  ...of(
    34,
    'lib/job/internal.lua',
    ["local AT_DESTINATION = '8'", "local AT_DESTINATION = '1000'", 'a destination gets all callbacks at once'],
    [
      'cache.change(doc.callback_of, ended, fields.callback_status, status)',
      '',
      'a job never learns the result of its callback',
    ],
    ['cache.change(id, doc, fields.ends_told, n)', '', 'two ends have the same number'],
  ),
  ...of(
    34,
    'lib/limit/limits.lua',
    [' or (settings.shut or 0) > time.now then return 0', ' then return 0', 'a paused destination is called'],
    [
      'if (settings.shut or 0) > time.now then return settings.shut end',
      '',
      'a paused destination is checked every second',
    ],
  ),
  ...of(34, 'scripts/limit.lua', ['tonumber(till) or false', 'tonumber(till) or nil', 'a destination stays paused']),
  ...of(34, 'lib/job/retention.lua', [
    '  if not callback and may_go(doc)',
    '  if may_go(doc)',
    'a job is deleted before it is reported',
  ]),
]
