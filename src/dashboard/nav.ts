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

type NavEntry = { name: NavName; title: string; path: string; key: string }

const entry = (name: NavName, title: string, key: string, path = `/${name}`): NavEntry => ({ name, title, path, key })

export const nav: { title: string; entries: NavEntry[] }[] = [
  {
    title: 'Work',
    entries: [
      entry('overview', 'Overview', 'o', '/'),
      entry('jobs', 'Jobs', 'j'),
      entry('flows', 'Flows', 'f'),
      entry('queues', 'Queues', 'q'),
      entry('schedules', 'Schedules', 's'),
      entry('limits', 'Limits', 'l'),
    ],
  },
  {
    title: 'System',
    entries: [
      entry('workers', 'Workers', 'w'),
      entry('channels', 'Channels', 'c'),
      entry('callbacks', 'Callbacks', 'b'),
      entry('files', 'Files', 'i'),
      entry('log', 'Log', 'e'),
      entry('deploy', 'Deploys', 'v', '/deploys'),
    ],
  },
  {
    title: 'Settings',
    entries: [entry('keys', 'Keys and audit', 'k', '/settings/keys'), entry('doctor', 'Doctor', 'd')],
  },
]

export const entries = nav.flatMap(({ entries }) => entries)

export const entryOf = (name: NavName): NavEntry => entries.find((one) => one.name === name)!

export const thumb: readonly NavName[] = ['overview', 'jobs', 'flows', 'limits']
