import { readUpTo } from '../core/bytes.ts'
import { SidejobError } from '../core/errors.ts'

export async function formOf(request: Request, most: number): Promise<FormData> {
  const bytes = await readUpTo(request.body, most, { readOn: most * 2 })
  if (!bytes) throw new SidejobError('TOO_LARGE', `the form: expected at most ${most} bytes`)
  const type = request.headers.get('content-type') ?? ''
  try {
    return await new Response(bytes as BodyInit, { headers: { 'content-type': type } }).formData()
  } catch (cause) {
    throw new SidejobError('BAD_REQUEST', `expected a form, got ${type || 'nothing'}`, { cause })
  }
}
