// What pages for people show beside jobs: views of their list that all share, and when classes were deployed.

import { SidejobError } from '../../core/errors.ts'
import { readObject } from '../../core/readable.ts'
import type { Context } from '../context.ts'
import type { Engine } from '../engine.ts'

const MOST = 50

export function createViews({ store, now }: Context): Pick<Engine, 'views' | 'setView' | 'removeView' | 'deployments'> {
  return {
    async views() {
      const views = Object.entries(await store.views()).flatMap(([name, text]) => {
        const view = readObject<{ query: string; by: string; at: number }>(text)
        return view ? [{ name, ...view }] : []
      })
      return { views: views.sort((a, b) => (a.name < b.name ? -1 : 1)) }
    },

    async deployments() {
      const deployments = Object.entries(await store.deployments()).flatMap(([id, text]) => {
        const deployment = readObject<{ at: number; classes: string[] }>(text)
        return deployment ? [{ id, at: deployment.at, classes: deployment.classes.length }] : []
      })
      return { deployments: deployments.sort((a, b) => b.at - a.at) }
    },

    async setView(name, { query, by }) {
      const known = Object.keys(await store.views())
      if (!known.includes(name) && known.length >= MOST)
        throw new SidejobError('LIMITED', `expected at most ${MOST} shared views, got one more: take one away`)
      await store.setView(name, JSON.stringify({ query, by, at: now() }))
    },

    async removeView(name) {
      if ((await store.removeView(name)) === 0) throw new SidejobError('NOT_FOUND', `there is no view ${name}`)
    },
  }
}
