export type DeployMark = { at: number; version: string | null; author?: string | null }

type Deployed = { id: string; deploys: readonly DeployMark[] }

export const deploysOf = (deployments: readonly Deployed[]): (DeployMark & { id: string })[] =>
  deployments.flatMap(({ id, deploys }) => deploys.map((one) => ({ ...one, id }))).sort((a, b) => b.at - a.at)

export const deployName = ({ version }: DeployMark): string => (version === null ? 'deploy' : `deploy of ${version}`)

type Run = { version: string | null; ranAt: number | null }

/** Returns the last deploy before a run, with the run's version if it is known. `deploys` is newest first. */
export const deployOfRun = <D extends DeployMark>(deploys: readonly D[], { version, ranAt }: Run): D | undefined =>
  deploys.find((one) => one.at <= (ranAt ?? 0) && (version === null || one.version === version))
