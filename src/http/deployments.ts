// Deployments: which have told of their classes, and when that changed last.

import { deploymentList } from '../core/schemas.ts'
import { route } from './route.ts'

export const deployments = {
  list: route(
    {
      method: 'GET',
      path: '/v1/deployments',
      scope: 'read',
      summary: 'Shows the deployments that serve classes, and when the classes of each changed last',
      answers: { 200: deploymentList },
    },
    ({ engine }) => engine.deployments(),
  ),
}
