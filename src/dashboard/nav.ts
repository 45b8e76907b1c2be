export type NavName =
  | 'overview'
  | 'jobs'
  | 'flows'
  | 'queues'
  | 'schedules'
  | 'limits'
  | 'workers'
  | 'channels'
  | 'callbacks'
  | 'files'
  | 'log'
  | 'deploy'
  | 'keys'
  | 'doctor'

type NavEntry = { name: NavName; title: string; path: string; key: string; says: string }

const entry = (name: NavName, title: string, key: string, says: string, path = `/${name}`): NavEntry => ({
  name,
  title,
  path,
  key,
  says,
})

export const nav: { title: string; entries: NavEntry[] }[] = [
  {
    title: 'Work',
    entries: [
      entry('overview', 'Overview', 'o', 'current problems, and today’s counts', '/'),
      entry('jobs', 'Jobs', 'j', 'waiting, running, ended and failed jobs'),
      entry('flows', 'Flows', 'f', 'connected jobs, and the values that move between them'),
      entry('queues', 'Queues', 'q', 'the waiting and running jobs of each queue, and the next job'),
      entry('schedules', 'Schedules', 's', 'the jobs that repeat, and their next runs'),
      entry('limits', 'Limits', 'l', 'limits, with the jobs that run and wait under each'),
    ],
  },
  {
    title: 'System',
    entries: [
      entry('workers', 'Workers', 'w', 'the classes, with their ports and their runs'),
      entry('channels', 'Channels', 'c', 'the listeners, and the last messages'),
      entry('callbacks', 'Callbacks', 'b', 'the HTTP calls that report ended jobs, and the responses'),
      entry('files', 'Files', 'i', 'stored files, and when they are removed'),
      entry('log', 'Log', 'e', 'the log lines of functions and workers'),
      entry('deploy', 'Deploys', 'v', 'the effect of each version of your code', '/deploys'),
    ],
  },
  {
    title: 'Settings',
    entries: [
      entry('keys', 'Keys and audit', 'k', 'API keys, and the changes made with each key', '/settings/keys'),
      entry('doctor', 'Doctor', 'd', 'the health of the services and of the stored data'),
    ],
  },
]

export const entries = nav.flatMap(({ entries }) => entries)

export const entryOf = (name: NavName): NavEntry => entries.find((one) => one.name === name)!

export const thumb: readonly NavName[] = ['overview', 'jobs', 'flows', 'limits']
