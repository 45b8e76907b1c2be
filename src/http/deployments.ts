// Deployments that announced classes.

import { deploymentList } from '../core/schemas.ts'
import { route } from './route.ts'

export const deployments = {
  list: route(
    {
      method: 'GET',
      path: '/v1/deployments',
      scope: 'read',
      summary: 'List deployments',
      description: 'Each with the time at which its classes last changed.',
      answers: { 200: deploymentList },
    },
    ({ engine }) => engine.workers.deployments(),
  ),
}
