// Before tests on the strict Redis: its program is built once, and not by whichever test is first.

import { strictBinary } from '../../infra/stand-ins/strict/index.ts'

export default async (): Promise<void> => void (await strictBinary())
