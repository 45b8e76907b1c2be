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
    'if doc.end_was_told then cache.change(id, doc, fields.end_was_told, nil) end',
    '',
    'another end is taken for a known one',
  ]),
  ...of(
    34,
    'lib/job/internal.lua',
    ["local AT_DESTINATION = '8'", "local AT_DESTINATION = '1000'", 'a destination gets everything at once'],
    [
      'cache.change(doc.callback_of, told_doc, fields.callback_status, told_as[place])',
      '',
      'a job never learns how the telling ended',
    ],
    ['cache.change(id, doc, fields.ends_told, n)', '', 'two ends go by one number'],
  ),
  ...of(
    34,
    'lib/limit/limits.lua',
    [
      ' or (settings.shut or 0) > time.now then return 0',
      ' then return 0',
      'a destination that is down is called all the same',
    ],
    [
      'if (settings.shut or 0) > time.now then return settings.shut end',
      '',
      'a destination that is down is looked at every second',
    ],
  ),
  ...of(34, 'scripts/limit.lua', ['tonumber(till) or false', 'tonumber(till) or nil', 'a destination stays shut']),
  ...of(34, 'lib/job/retention.lua', [
    "return doc.callback_job and doc.callback_status ~= 'DELIVERED' and cache.find(doc.callback_job)",
    'return false',
    'a job is deleted before it is reported',
  ]),
]
