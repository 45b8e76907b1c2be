import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    90,
    'scripts/commit.lua',
    ["    cache.set_text(ns .. 'rung', time.now_text)\n", '', 'the time of a bell is unknown'],
    ['  if served.lanes[bell] then\n', '  if true then\n', 'any claimed bell counts as one'],
  ),
  ...of(91, 'lib/port/log.lua', ['job_doc.class or', 'false or', 'entries have no class']),
  ...of(91, 'lib/port/log.lua', [
    'fault_doc or (job and cache.find(job))',
    'fault_doc',
    'writes of runs have no class',
  ]),
]
