output "url" {
  description = "Address of the Worker."
  value       = var.public_url
}

output "redis_url" {
  description = "UPSTASH_REDIS_REST_URL, for npm run probe and for backups."
  value       = "https://${upstash_redis_database.this.endpoint}"
}

output "redis_token" {
  description = "UPSTASH_REDIS_REST_TOKEN, for npm run probe and for backups."
  value       = upstash_redis_database.this.rest_token
  sensitive   = true
}

output "schedule" {
  description = "ID of the QStash schedule."
  value       = upstash_qstash_schedule_v2.tick.schedule_id
}
