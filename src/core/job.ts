export const statuses = ['queued', 'running', 'suspended', 'completed', 'failed', 'terminating', 'terminated'] as const

export type Status = (typeof statuses)[number]

/** README.md has a diagram of most of these transitions. Tests check that no other transition happens. */
export const transitions: Record<Status | 'new', Partial<Record<Status, string>>> = {
  new: {
    queued: 'enqueue',
    suspended: "a child that waits for its parent's run to end",
    terminating: 'born below a terminating parent',
    terminated: 'born below a terminating parent, no shutdown hook',
  },
  queued: {
    running: 'claim',
    suspended: 'its schedule ended, and a child that it follows is not completed',
    completed: 'its schedule ended',
    failed: 'delivered too often without an answer, or its class is banned',
    terminating: 'terminate, runaway guard',
    terminated: 'terminate, no shutdown hook',
  },
  running: {
    queued: 'input arrived, retry, repeat, asked to run again, lost',
    suspended: 'suspend',
    completed: 'perform returned',
    failed: 'threw, no retries left',
    terminating: 'terminate',
  },
  suspended: {
    queued: 'input, child or run, a schedule is set',
    completed: 'the children that it follows are completed',
    terminating: 'terminate',
    terminated: 'terminate, no shutdown hook',
  },
  completed: {
    queued: 'input, child or run, a schedule is set',
    suspended: 'a child that it follows has something to do',
    terminating: 'terminate',
    terminated: 'terminate, no shutdown hook',
  },
  failed: {
    queued: 'run with force, retry',
    terminating: 'terminate',
    terminated: 'terminate, no shutdown hook',
  },
  terminating: { terminated: 'its run ended, and its shutdown run if it has one', queued: 'run with force' },
  terminated: { queued: 'run with force' },
}

export const ended: ReadonlySet<Status> = new Set(['completed', 'failed', 'terminated'])

/** Does not check the id: `isId` refuses "1abc" and "01". */
export const idIn = (token: string): string => token.split('.', 1)[0]!

export const isId = (text: string): boolean => /^[1-9][0-9]{0,15}$/.test(text)

export const isAlias = (text: string): boolean => /^\p{L}[^\p{Cc}]{0,254}$/u.test(text)

export const isPortName = (text: string): boolean => /^[a-zA-Z0-9_]{1,100}$/.test(text) && text !== '__proto__'
