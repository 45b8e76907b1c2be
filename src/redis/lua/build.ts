/** Names of fields that Lua code may use although no record in keys.ts has them. */
export const scratch =
  'alias_names apart awaits catches_up context did err counted liked limit_rows listens moves nothing ok pinned room roots unique_for unique_how wait_for warning words slot_from text'
