import * as z from 'zod'
import { quotas } from '../limits.ts'
import { TENANT } from '../tenant.ts'
import { DAY } from '../units.ts'
import { label, named } from './names.ts'
import { duration, moment, time, within } from './values.ts'

export const scope = z.enum(['admin', 'write', 'read', 'work'])
export type Scope = z.output<typeof scope>

const keyLimits = z.strictObject({
  requestsPerSecond: z
    .number()
    .min(0.1)
    .max(100_000)
    .optional()
    .describe('maximum average number of requests per second in each isolate. A burst may have twice this number'),
  jobs: z
    .int()
    .min(1)
    .max(1e9)
    .optional()
    .describe(`maximum number of unfinished jobs of the key; by default ${quotas.jobs}`),
  bytes: z
    .int()
    .min(1)
    .max(1e12)
    .optional()
    .describe(
      `maximum number of bytes stored for the key: jobs, graphs, results, and responses kept for an Idempotency-Key. An unfinished job counts at least 1 KiB. By default ${quotas.bytes}`,
    ),
})

const shownLimits = z.object({
  requestsPerSecond: z.number().optional(),
  jobs: z.number().optional(),
  bytes: z.number().optional(),
})
export type KeyLimits = z.output<typeof shownLimits>

export const keyInput = z.strictObject({
  name: label,
  scopes: z.array(scope).min(1).max(4),
  expiresAt: time.optional().describe('expiry of the key; by default never'),
  limits: keyLimits.optional(),
})

export const keyMade = z.object({ id: z.string(), key: z.string() })

export const keyList = z.object({
  keys: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      scopes: z.array(scope),
      createdAt: moment,
      expiresAt: moment.optional(),
      lastUsedAt: moment.optional().describe('time of the last use, accurate to one hour'),
      limits: shownLimits.optional(),
    }),
  ),
})

export type ApiKey = z.output<typeof keyList>['keys'][number]

export const me = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(scope).describe('scopes of the key; admin includes every scope'),
  tenant: z.string().nullable().describe('tenant of the key; null if the key belongs to no tenant'),
})

export const keyRotation = z.strictObject({
  overlap: duration.refine(...within(0, 30 * DAY, 'at most 30 days')).default(DAY),
})

export const tenantInput = z.strictObject({
  limits: keyLimits
    .optional()
    .describe(
      'limits for all keys of the tenant together; `{}` removes them. If omitted, the limits stay unchanged; a new tenant has no limits',
    ),
})

const TENANT_NAME = 'a tenant: at most 40 characters from a-z, 0-9 and "-", beginning with a letter or digit'
export const tenantName = named(TENANT_NAME, (text) => TENANT.test(text))

export const tenantList = z.object({
  tenants: z.array(z.object({ name: z.string(), createdAt: moment, limits: shownLimits.optional() })),
})
export type Tenant = z.output<typeof tenantList>['tenants'][number]

export const auditPage = z.object({
  entries: z.array(
    z.object({
      id: z.string(),
      at: moment,
      by: z.string().describe('API key that made the change, as key:<id>'),
      name: z.string(),
      verb: z.string(),
      method: z.string(),
      path: z.string(),
      change: z.string().optional().describe('request body of a setting, bulk action or schedule, without user data'),
      was: z.string().optional().describe('values before the change'),
      reason: z.string().optional().describe('reason from the header Sidejob-Reason'),
    }),
  ),
  cursor: z.string().nullable(),
})
export type AuditEntry = Omit<z.output<typeof auditPage>['entries'][number], 'id' | 'at'>
