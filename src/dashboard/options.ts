// What a deployment says of its dashboard.

export type DashboardOptions = {
  name?: string
}
