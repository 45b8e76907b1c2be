import { hasCode } from '../../core/errors.ts'
import type { JobInput } from '../engine.ts'
import type { SetCron } from './announcement.ts'

type Verbs = {
  jobs: { remove: (job: string, options: { force: true }) => Promise<unknown> }
  schedules: {
    get: (alias: string) => Promise<{ job: number }>
    set: (alias: string, input: JobInput) => Promise<unknown>
    end: (alias: string) => Promise<void>
  }
}

export const cronSetter =
  (verbs: () => Verbs): SetCron =>
  async ({ queue, name }, cron) => {
    const engine = verbs()
    const alias = `cron:${queue}/${name}`
    if (!cron) {
      try {
        const { job } = await engine.schedules.get(alias)
        await engine.schedules.end(alias)
        await engine.jobs.remove(String(job), { force: true })
      } catch (error) {
        if (!hasCode(error, 'NOT_FOUND')) throw error
      }
      return
    }
    const { expression, args, ...rest } = cron
    const input = { queue, class: name, repeat: { cron: expression, ...rest }, args }
    const set = () => engine.schedules.set(alias, input)
    await set().catch((error) => {
      if (!hasCode(error, 'TAKEN')) throw error
      return set()
    })
  }
