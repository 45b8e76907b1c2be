// Settings of the build of the scripts (infra/lua-build).

/**
 * The functions that common calls use: enqueues, claims and commits of plain jobs. The build creates the other
 * functions of these modules only when they are called. `npm run bench:scripts` shows the gain.
 */
export const usual: Record<string, string> = {
  'job/create': 'claim_unique existing_job one unique_is',
  'job/ending': 'clear_steps finish has_inputs leave_word let_children_go removal',
  'job/ids': 'given keep must_have_given next_hundred next_id next_ids',
  'job/places': 'announce index_of leave member_of move queue_up soonest tell_parent',
  'job/queueing': 'enqueue slot_moment stop_waiting wake_parent',
  'job/results': 'keep kept_for',
  'job/specs': 'check_registered moment_of take',
  'job/states': 'of',
  'job/unique': 'free hold holder scope',
  'job/values': 'check has_room note of total',
  'limit/quota': 'check',
  'port/hints': 'hears hears_all_jobs hears_one_of known read_listened tell_status wanted',
  'port/log': 'end_entry',
  'port/record': 'note',
  'queue/bells': 'new_bell next_call ring ring_ready ring_timers',
  'queue/class_counts': 'add count_ended grown key measure ran settle size_of text_of_today with',
  'queue/counts': 'add key no_waits ran turn waited written_down',
  'queue/globs': 'first match',
  'queue/lanes': 'count has_room moment_of most next_room note_moments purge set',
  'queue/order': 'rank score',
  'queue/sides': 'fetch_limits_of is_limited of own_limit',
  'queue/standby': 'call_lane lane_for warm_lane',
  'run/claim':
    'consider consider_job consider_piece each finds_nothing first_of given_up go_through guard has_all is_overtaken ' +
    'is_removed is_stale jobs keeps_apart lend members_at members_for room_of wanted weight_of',
  'run/eager': 'begin_lane call_lanes hand_over in_order only_queue written_to',
  'run/finish': 'answered carry_out clear_failures come_to_rest commit succeed take_run',
  'run/leases': 'finish note_run of_version',
  'run/packed': 'completed_state create finish lend lent lent_state move ran_at suits suits_new',
  'run/snapshot': 'of waited',
  'run/tokens': 'next of',
  'run/work': 'conclude flush',
  'runtime/args': 'take take_int take_list',
  'runtime/cache':
    'attached_to change change_piece change_queue check_schema clear common_of count_packed del fetch fetch_jobs ' +
    'find is_beside is_document is_queue need piece queue queue_in set_text sset text_at where zset',
  'runtime/idempotency': 'recall remember',
  'runtime/journal': 'caught isolate push put try undone_on_failure within',
  'runtime/leased': 'keep',
  'runtime/numbers': 'int',
  'runtime/pieces': 'entry number_in read size_of text_of',
  'runtime/readable': 'decode',
  'runtime/redis_keys': 'key_of piece_key queue_key',
  'runtime/store':
    'call call_in_pieces empty flush_messages grow_index grow_indexes grow_lists grow_sets keys_to_delete ' +
    'record_schema shrink write write_texts',
  'runtime/tally': 'add in_document count first_left front_of is_empty note over',
  'runtime/time': 'digits moment_of_sequence next_ticks sequence',
}

/** Names of fields of no record that scripts set by assignment, or that Redis sets. */
export const scratch =
  'alias_names apart awaits catches_up context did err counted has_jobs liked limit_rows listens moves nothing ok room roots unique_for unique_how wait_for warning words slot_from text'
