import type { Command } from '../command.ts'
import { create } from './create.ts'
import { deploy, destroy } from './deploy.ts'
import { dev } from './dev.ts'
import { init } from './init.ts'
import { key, open } from './open.ts'
import { record } from './record.ts'
import { rehearse } from './rehearse.ts'
import { schemas } from './schemas.ts'

export const projectCommands: Record<string, Command> = {
  create,
  init,
  dev,
  rehearse,
  record,
  schemas,
  deploy,
  destroy,
  open,
  key,
}
