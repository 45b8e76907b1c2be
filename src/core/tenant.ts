export const TENANT = /^[a-z0-9][a-z0-9-]{0,39}$/

const KEY = /^sj_([a-z0-9][a-z0-9-]{0,39})_[0-9a-f]{44}$/
const PATH = /^\/t\/([a-z0-9][a-z0-9-]{0,39})(?=\/)/

export const tenantOfKey = (key: string): string | undefined => KEY.exec(key)?.[1]

export function splitPath(path: string): { tenant?: string; path: string } {
  const tenant = PATH.exec(path)?.[1]
  return tenant === undefined ? { path } : { tenant, path: path.slice(tenant.length + 3) }
}

export const NAMESPACE = 'sidejob:'

/** The namespace is unique, because no key of the deployment begins with `t:`, and no tenant's name contains `:`. */
export const namespaceOf = (namespace: string, tenant: string): string => `${namespace}t:${tenant}:`

export const isOfTenant = (namespace: string): boolean => /t:[a-z0-9-]+:$/.test(namespace)

export const addressOf = (publicUrl: string, tenant: string): string => `${publicUrl}/t/${tenant}`
