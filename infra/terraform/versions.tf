terraform {
  required_version = ">= 1.5"

  required_providers {
    # Query strings are left out of logs (redact_query_string) since September 2026.
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
