// Deploys, named by the version of their code.

export type DeployMark = { at: number; version: string | null; author?: string | null }

type Deployed = { id: string; deploys: readonly DeployMark[] }

/** The deploys of all deployments, newest first. */
export const deploysOf = (deployments: readonly Deployed[]): (DeployMark & { id: string })[] =>
  deployments.flatMap(({ id, deploys }) => deploys.map((one) => ({ ...one, id }))).sort((a, b) => b.at - a.at)

/** @example deployName({ at: 1, version: 'v1' }) // 'deploy of v1' */
export const deployName = ({ version }: DeployMark): string => (version === null ? 'deploy' : `deploy of ${version}`)

type Run = { version: string | null; ranAt: number | null }

/**
 * The deploy that brought the code of a run: the last one before it, of its version if that is known. `deploys` is newest
 * first.
 */
export const deployOfRun = <D extends DeployMark>(deploys: readonly D[], { version, ranAt }: Run): D | undefined =>
  deploys.find((one) => one.at <= (ranAt ?? 0) && (version === null || one.version === version))
