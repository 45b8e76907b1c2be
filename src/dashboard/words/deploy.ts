export type DeployMark = { at: number; version: string | null; author?: string | null }

export type Deploy = DeployMark & { id: string }

type Deployed = { id: string; deploys: readonly DeployMark[] }

export const deploysOf = (deployments: readonly Deployed[]): Deploy[] =>
  deployments.flatMap(({ id, deploys }) => deploys.map((one) => ({ ...one, id }))).sort((a, b) => b.at - a.at)

/** The oldest entry of a deployment in a tenant is the first use by the tenant, not a deploy. */
export const deploysFor = (tenant: string | undefined, deploys: readonly Deploy[]): Deploy[] =>
  deploys.filter((one) => tenant === undefined || one !== deploys.findLast(({ id }) => id === one.id))

export const deployName = ({ version }: DeployMark): string => (version === null ? 'deploy' : `deploy of ${version}`)

export const deployPath = ({ id, at }: Deploy): string => `/deploys?of=${id}&at=${at}`

type Run = { version: string | null; ranAt: number | null }

export const deployOfRun = <D extends DeployMark>(deploys: readonly D[], { version, ranAt }: Run): D | undefined =>
  deploys.find((one) => one.at <= (ranAt ?? 0) && (version === null || one.version === version))
