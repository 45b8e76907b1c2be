import { ORIGIN } from '../kit.ts'
import { FIRST_HISTORY_ID } from '../many-ended.ts'
import type { Facts } from './facts.ts'
import { editPage, flowPage, flowsPage } from './flows.ts'
import { jobPage } from './job.ts'
import { byClass, failedPage, groupPage, historyPage, jobsPage, pastJobPage } from './jobs.ts'
import { constraintForm, limitsPage, openedLimit } from './limits.ts'
import { callbacksPage, channelsPage, logPage, publishForm } from './messages.ts'
import { frame, morePage, overview } from './overview.ts'
import { queuePage, queuesPage } from './queues.ts'
import type { Scene } from './scene.ts'
import type { Claims } from './survey.ts'
import { auditPage, doctorPage, examinedPage, filesPage, findPage, keysPage, schedulesPage } from './system.ts'
import { choosePage, deploysPage, workerPage, workersPage } from './workers.ts'

export const pages: Record<string, (facts: Facts, scene: Scene) => Claims | Promise<Claims>> = {
  '/': overview,
  '/jobs': jobsPage,
  '/jobs?status=failed': failedPage,
  '/jobs?by=class': byClass,
  '/queues': queuesPage,
  '/queues/many': (facts, scene) => queuePage(facts, scene, 'many'),
  '/queues/store': (facts, scene) => queuePage(facts, scene, 'store'),
  '/queues/default': (facts, scene) => queuePage(facts, scene, 'default'),
  '/queues/mail': (facts, scene) => queuePage(facts, scene, 'mail'),
  '/limits': limitsPage,
  '/limits?open=worker:store/parcel': (facts, scene) => openedLimit(facts, scene, 'worker:store/parcel'),
  '/workers': workersPage,
  '/workers/default/charge': (facts, scene) => workerPage(facts, scene, 'default', 'charge'),
  '/workers/store/order': (facts, scene) => workerPage(facts, scene, 'store', 'order'),
  '/channels': channelsPage,
  '/callbacks': callbacksPage,
  '/log': logPage,
  '/log?level=error': (facts, scene) => logPage(facts, scene, 'error'),
  '/deploys': deploysPage,
  '/settings/keys': keysPage,
  '/settings/keys?audit': auditPage,
  '/flows': flowsPage,
  '/jobs?in=history': historyPage,
  '/jobs/past/history': pastJobPage,
  '/jobs/order': (facts, scene) => jobPage(facts, scene, scene.order),
  '/jobs/order?tab=runs': (facts, scene) => jobPage(facts, scene, scene.order, 'runs'),
  '/jobs/failed': (facts, scene) => jobPage(facts, scene, scene.failed),
  '/jobs/running': (facts, scene) => jobPage(facts, scene, scene.running),
  '/jobs/report?tab=runs': (facts, scene) => jobPage(facts, scene, scene.report, 'runs'),
  '/jobs/new': choosePage,
  '/jobs/new?from=order': async (_, { order, site: { engine } }) => {
    const { in: ports, priority, group } = await engine.jobs.get(String(order))
    const waiting = Object.keys(ports).filter((name) => ports[name]!.size > 0)
    const looks = await Promise.all(waiting.map((name) => engine.ports.get(String(order), 'in', name, 20)))
    const inputs = looks.flatMap(({ values }) => values.map(({ data }) => data)).join(', ')
    return {
      'main h1, .crumbs [aria-current]': [`Duplicate #${order}`, `Duplicate #${order}`],
      'section.card > form > label > .fieldname > .note': [
        ...looks.map(({ values }) => `as JSON; ${values.length} values, under Options`),
        'as JSON',
      ],
      'form summary': [`Options: args, priority ${priority}, group ${group}, delay, alias, labels`],
      '#preview .note': ['body of POST /v1/jobs'],
      '#preview pre': [`${ORIGIN}, ${inputs}, priority: 0`, `${ORIGIN}/v1/jobs, ${inputs}, priority: 0`],
    }
  },
  '/flows/flow': flowPage,
  '/flows/flow?wire=enrich.image%3Eimages.url': (facts, scene) => flowPage(facts, scene, 'wire'),
  '/flows/flow?node=enrich': (facts, scene) => flowPage(facts, scene, 'node'),
  '/flows/flow/edit': editPage,
  '/schedules': schedulesPage,
  '/limits?constraint=hosts': constraintForm,
  '/limits?change=group:north': limitsPage,
  '/groups/north': (facts, scene) => groupPage(facts, scene, 'north'),
  '/channels?at=/shop/notes': (facts, scene) => publishForm(facts, scene, '/shop/notes'),
  '/files': filesPage,
  '/doctor': doctorPage,
  '/doctor?cursor=': (facts, scene) => examinedPage(facts, scene, false),
  '/doctor?cursor=&run': (facts, scene) => examinedPage(facts, scene, true),
  '/find?q=card&list': (facts, scene) => findPage(facts, scene, 'card'),
  '/more': morePage,
}

export const claimsOf = async (path: string, facts: Facts, scene: Scene): Promise<Claims> => ({
  ...frame(facts),
  ...(await pages[path]!(facts, scene)),
})

export const pathOf = (path: string, scene: Scene): string =>
  path
    .replace('/jobs/past/history', `/jobs/${FIRST_HISTORY_ID}/history`)
    .replace('from=order', `from=${scene.order}`)
    .replace(/^\/jobs\/(order|running|report|failed)/, (_, name: 'order') => `/jobs/${scene[name]}`)
    .replace('/flows/flow', `/flows/${scene.flow}`)

export const namesIn = ({ queues, limits, jobs }: Facts): Set<string> =>
  new Set([
    ...queues.map(({ name }) => name),
    ...limits.map(({ key }) => key),
    ...jobs.flatMap(({ class: name, group }) => [name, ...(group === null ? [] : [group])]),
  ])
