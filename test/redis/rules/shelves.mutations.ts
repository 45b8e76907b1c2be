import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    129,
    'lib/runtime/idempotency.lua',
    ['line_on(call.shelf, key) or cache.text_at(key)', 'cache.text_at(key)', 'an answer in a shared key is not found'],
    [
      '    if of == key then return line end',
      '    if true then return line end',
      'a call gets the answer of another call',
    ],
    [
      'tonumber(till) > time.now then return text:sub(from) end',
      'true then return text:sub(from) end',
      'a shared key keeps all answers forever',
    ],
    ['  if #shelved <= SHELF_BYTES then return', '  if true then return', 'a shared key grows without a limit'],
    [
      'without_old(cache.text_at(shelf) or',
      "without_old('' or",
      'a new answer deletes the other answers of a shared key',
    ],
    [
      '  local till, text = numbers.int(time.now + ms)',
      '  local till, text = numbers.int(time.now + 1000)',
      'an answer in a shared key lasts for a second',
    ],
  ),
]
