// Deploys, named by the version of their code.

export type DeployMark = { at: number; version: string | null }

type Deployed = { id: string; deploys: readonly DeployMark[] }

/** The deploys of all deployments, newest first. */
export const deploysOf = (deployments: readonly Deployed[]): (DeployMark & { id: string })[] =>
  deployments.flatMap(({ id, deploys }) => deploys.map((one) => ({ ...one, id }))).sort((a, b) => b.at - a.at)

/** @example deployName({ at: 1, version: 'v1' }) // 'deploy of v1' */
export const deployName = ({ version }: DeployMark): string => (version === null ? 'deploy' : `deploy of ${version}`)
