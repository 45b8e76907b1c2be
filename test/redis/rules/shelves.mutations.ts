import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    129,
    'lib/runtime/idempotency.lua',
    ['line_on(shelf, key) or cache.text_at(key)', 'cache.text_at(key)', 'an answer on a shelf is not found'],
    ['    if of == key then return line end', '    if true then return line end', 'one gets the answer of another'],
    [
      'tonumber(till) > time.now then return text:sub(from) end',
      'true then return text:sub(from) end',
      'a shelf keeps all that ever stood on it',
    ],
    ['  if #shelved <= SHELF_BYTES then return', '  if true then return', 'a shelf grows with the calls'],
    ['without_old(cache.text_at(shelf) or', "without_old('' or", 'a newcomer to a shelf sweeps it'],
    [
      '  local till, text = numbers.int(time.now + ms)',
      '  local till, text = numbers.int(time.now + 1000)',
      'an answer on a shelf lasts for a second',
    ],
  ),
]
