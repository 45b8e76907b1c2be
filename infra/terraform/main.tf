locals {
  # The names of bindings are public; only their values are secret.
  secrets = merge({
    UPSTASH_REDIS_REST_URL     = "https://${upstash_redis_database.this.endpoint}"
    UPSTASH_REDIS_REST_TOKEN   = upstash_redis_database.this.rest_token
    QSTASH_TOKEN               = var.qstash_token
    QSTASH_CURRENT_SIGNING_KEY = var.qstash_current_signing_key
    QSTASH_NEXT_SIGNING_KEY    = var.qstash_next_signing_key
    PUBLIC_URL                 = var.public_url
    SIDEJOB_API_KEY            = var.api_key
    SIDEJOB_WEBHOOK_SECRET     = var.webhook_secret
    SIDEJOB_FILES_SECRET       = var.files_secret
    SIDEJOB_NAMESPACE          = "${var.name}:"
  }, var.settings)

  # Names of AWS regions end with a hyphen and a digit (us-east-1). Names of Google Cloud regions have no such hyphen.
  placement = can(regex("-[0-9]+$", var.region)) ? "aws:${var.region}" : "gcp:${var.region}"

  modules = concat(["worker.js"], sort(fileset(var.build, "*.wasm")))
}

# No read regions, because each read region bills every write again. No eviction, because an evicted job is lost.
resource "upstash_redis_database" "this" {
  database_name  = var.name
  region         = "global"
  primary_region = var.region
  tls            = true
  eviction       = false

  lifecycle {
    prevent_destroy = true
  }
}

resource "cloudflare_r2_bucket" "files" {
  count      = var.files ? 1 : 0
  account_id = var.account_id
  name       = "${var.name}-files"
}

resource "cloudflare_worker" "this" {
  account_id = var.account_id
  name       = var.name

  subdomain = {
    enabled          = true
    previews_enabled = false
  }

  # Redact queries, because the queries of file links contain their signatures.
  observability = {
    enabled             = true
    redact_query_string = true
  }
}

resource "cloudflare_worker_version" "this" {
  account_id          = var.account_id
  worker_id           = cloudflare_worker.this.id
  main_module         = "worker.js"
  compatibility_date  = "2026-10-20"
  compatibility_flags = ["enable_request_signal", "global_fetch_strictly_public"]

  modules = [
    for name in local.modules : {
      name         = name
      content_file = "${var.build}/${name}"
      content_type = endswith(name, ".wasm") ? "application/wasm" : "application/javascript+module"
    }
  ]

  bindings = concat(
    [for name in sort(nonsensitive(keys(local.secrets))) : { type = "secret_text", name = name, text = local.secrets[name] }],
    [{ type = "version_metadata", name = "CF_VERSION_METADATA" }],
    [for bucket in cloudflare_r2_bucket.files : { type = "r2_bucket", name = "FILES", bucket_name = bucket.name }],
  )

  placement = {
    region = local.placement
  }
}

resource "cloudflare_workers_deployment" "this" {
  account_id  = var.account_id
  script_name = cloudflare_worker.this.name
  strategy    = "percentage"

  versions = [{
    version_id = cloudflare_worker_version.this.id
    percentage = 100
  }]
}

# The tick runs once a minute. The QStash schedule, every ten minutes, is a second source of ticks.
resource "cloudflare_workers_cron_trigger" "tick" {
  account_id  = var.account_id
  script_name = cloudflare_worker.this.name
  schedules   = [{ cron = "* * * * *" }]

  depends_on = [cloudflare_workers_deployment.this]
}

resource "upstash_qstash_schedule_v2" "tick" {
  destination = "${var.public_url}/tick"
  cron        = "*/10 * * * *"
  method      = "POST"
  retries     = 0

  depends_on = [cloudflare_workers_deployment.this]
}
