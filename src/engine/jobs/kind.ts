// The error is redacted before its kind is computed, so that secret values do not change the kind.

import { decodeValue, type Encoded } from '../../core/codec/value.ts'
import { type Failure, type Kind, kindOf } from '../../core/fingerprint.ts'
import { redacted } from '../../core/redact.ts'
import { type JobRecord, redactedPathsOf } from '../../redis/record.ts'

type Failed = Pick<JobRecord, 'class' | 'lastError' | 'redacts'>

export function failureOf(record: Failed): Failure {
  const shown = redacted((record.lastError as Encoded | undefined) ?? null, redactedPathsOf(record), 'error')
  const error = shown === null ? null : decodeValue(shown)
  return typeof error === 'object' && error !== null ? (error as Failure) : {}
}

export const kindOfFailed = (record: Failed): Kind => kindOf(record.class, failureOf(record))

export const kindNameOf = (record: Failed & Pick<JobRecord, 'errorKind'>): string =>
  record.errorKind?.split(',', 1)[0] ?? kindOfFailed(record).fingerprint
