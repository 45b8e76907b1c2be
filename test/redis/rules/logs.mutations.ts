import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    111,
    'lib/run/retry.lua',
    ['error = LOST, ', '', 'the row of a lost run has no reason'],
    ["    log.keep(id, 'error', LOST, doc)\n", '', 'the log does not mention a lost run'],
    ['  elseif doc.begun then\n', '  elseif true then\n', 'the log mentions runs that never began'],
  ),
  ...of(
    111,
    'lib/port/log.lua',
    ['tonumber(job_doc.history or 0) > 0', 'false', 'no job has its own log'],
    ['tonumber(job_doc.history or 0) > 0', 'job_doc.history', 'a job without history has its own log'],
    ["level .. '\\n' .. entry", "'\\n' .. entry", 'the log of a job has no levels'],
  ),
  ...of(111, 'lib/family/erase.lua', [", history = 'log' }", ' }', 'the log of a job stays when the job is removed']),
  ...of(111, 'lib/runtime/store.lua', ['if not cache.writes.dels[e[1]] then', 'do', 'a deleted job leaves a log']),
]
