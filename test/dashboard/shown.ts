/** `page`: pattern such as `/jobs/:job`. `path`: an address that matches the pattern. */
export type Shown = { name: string; page: string; path: string; title: string }

const one = (name: string, page: string, title: string, path = page): Shown => ({ name, page, path, title })

export const shownPages = (order: number, flow: number): Shown[] => [
  one('overview', '/', 'Overview: problems and their age'),
  one('jobs', '/jobs', 'Failed jobs by kind of error', '/jobs?status=failed'),
  one('job', '/jobs/:job', 'A job: why it does not run', `/jobs/${order}`),
  one('ended', '/jobs/:job/history', 'An ended job in the history', `/jobs/${order}/history`),
  one('new', '/jobs/new', 'A new job', '/jobs/new?queue=media&class=resize'),
  one('flows', '/flows', 'Flows'),
  one(
    'flow',
    '/flows/:job',
    'A flow with values waiting on a wire',
    `/flows/${flow}?wire=${encodeURIComponent('enrich.image>images.url')}`,
  ),
  one('flow-edit', '/flows/:job/edit', 'Edit the graph of a flow', `/flows/${flow}/edit`),
  one('queues', '/queues', 'Queues and their lanes'),
  one('queue', '/queues/:queue', 'A queue: its next jobs and their order', '/queues/media'),
  one('schedules', '/schedules', 'Schedules, twelve hours back and ahead'),
  one('limits', '/limits', 'Limits: the holders of their slots', '/limits?open=worker:media/resize'),
  one('group', '/groups/:id', 'A group: its holders and its waiting jobs', '/groups/shop-7'),
  one('workers-all', '/workers', 'Classes'),
  one('workers', '/workers/:queue/:class', 'Try a class', '/workers/media/resize'),
  one('workers-change', '/workers/:queue/:class', 'Change a class', '/workers/media/resize?change'),
  one('workers-register', '/workers', 'Register a class', '/workers?register'),
  one('channels', '/channels', 'Channels'),
  one('callbacks', '/callbacks', 'Callbacks'),
  one('files', '/files', 'Files'),
  one('log', '/log', 'Log'),
  one('deploys', '/deploys', 'Deploys: each class before and after a deploy, and new kinds of error'),
  one('keys', '/settings/keys', 'Keys'),
  one('doctor', '/doctor', 'Doctor'),
  one('find', '/find', 'Search results', '/find?q=m'),
  one('more', '/more', 'The other pages, on a phone'),
]

export const before = [one('login', '/login', 'Log in'), one('first-minute', '/', 'Get started')]

export const looks = [
  { name: 'light', theme: 'light', width: 1440, height: 1000 },
  { name: 'dark', theme: 'dark', width: 1440, height: 1000 },
  { name: 'phone', theme: 'light', width: 390, height: 844 },
] as const

export function gallery(): string {
  const picture = ({ name, title }: Shown, look: string) => `![${title}, ${look}](pictures/pages/${name}-${look}.webp)`
  const entry = (shown: Shown) => [`## ${shown.title}`, ...looks.map(({ name }) => picture(shown, name))].join('\n\n')
  return `# Every page of the dashboard

This page shows each page of the [dashboard](dashboard.md) in light, in dark, and on a phone (390 pixels wide).
\`npm run docs:pictures\` takes the pictures again: it starts a stack, fills it with data of a shop at three in the
morning (\`test/dashboard/seed.ts\`), and takes screenshots.

${[...before, ...shownPages(0, 0)].map(entry).join('\n\n')}
`
}
