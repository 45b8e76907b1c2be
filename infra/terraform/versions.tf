terraform {
  required_version = ">= 1.5"

  required_providers {
    # Needed for redact_query_string, which removes query strings from logs (since September 2026).
    cloudflare = {
      source  = "cloudflare/cloudflare"
      version = ">= 5.24, < 6"
    }
    upstash = {
      source  = "upstash/upstash"
      version = "~> 2.0"
    }
  }
}
