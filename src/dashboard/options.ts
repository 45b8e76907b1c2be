// Options of a dashboard.

export type DashboardOptions = {
  name?: string
}
