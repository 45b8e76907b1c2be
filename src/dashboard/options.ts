export type DashboardOptions = {
  name?: string
}
