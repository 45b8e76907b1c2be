import { createEngine } from '../../src/engine/index.ts'
import { facades } from '../../src/facades/index.ts'
import { createApp } from '../../src/http/app.ts'
import type { Kit, KitOptions } from '../kit/index.ts'

const DAY = 86_400_000

export async function createWorld(kit: Kit, options: KitOptions = {}) {
  const engine = createEngine({ ...kit.engineOptions, namespace: `${crypto.randomUUID().slice(0, 8)}:`, ...options })
  const app = createApp({
    engine,
    facades,
    verify: async () => true,
    publicUrl: 'https://jobs.example.com',
  })
  const now = () => Date.now() + kit.engineOptions.clock!()
  const noon = Math.ceil((now() + DAY) / DAY) * DAY + DAY / 2
  await kit.advance(noon - now())

  const ask = (method: string, path: string, headers: Record<string, string> = {}, body?: BodyInit) =>
    app.request(path, { method, headers: { authorization: 'Bearer dev', ...headers }, body })

  return {
    engine,
    app,
    ask,
    now,
    noon,
    at: (seconds: number) => kit.advance(Math.max(0, noon + seconds * 1000 - now())),
    faults: () => engine.doctor.verify(),
  }
}

export type World = Awaited<ReturnType<typeof createWorld>>
