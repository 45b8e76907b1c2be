import { configIn } from '../../deploy/config-file.ts'

export async function workerNameIn(folder: string): Promise<string | undefined> {
  const config = configIn(folder)
  if (!config) return undefined
  const reader = await import('../../deploy/config.ts').catch(() => undefined)
  return reader?.readProject(config).raw.name
}
