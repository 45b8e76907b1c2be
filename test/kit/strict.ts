import { strictBinary } from '../../infra/stand-ins/strict/index.ts'

export default async (): Promise<void> => void (await strictBinary())
