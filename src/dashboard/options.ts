// What a deployment says of its dashboard.

export type DashboardOptions = {
  /** What the deployment is called, beside the name of sidejob: `production` has a frame of its own. */
  name?: string
}
