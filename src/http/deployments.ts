// Deployments that announced classes.

import { comparison, comparisonQuery, deploymentList } from '../core/deployments.ts'
import { route } from './route.ts'

export const deployments = {
  list: route('GET /v1/deployments', {
    scope: 'read',
    summary: 'List deployments',
    description: 'Each with its version and its last deploys.',
    answers: { 200: deploymentList },
    handle: ({ engine }) => engine.deployments.list(),
  }),

  compare: route('GET /v1/deployments/:deployment/comparison', {
    scope: 'read',
    summary: 'Compare the time before and after a deploy',
    description:
      'Counts and run times of each class, and kinds of errors that are new. The time before begins with the ' +
      'previous deploy, and the time after ends with the next one. Counts are kept for two days, so a longer time ' +
      'begins at midnight UTC of the day before its end.',
    query: comparisonQuery,
    answers: { 200: comparison },
    handle: ({ engine, params, query }) => engine.deployments.compare(params.deployment, query),
  }),
}
