variable "account_id" {
  description = "ID of the Cloudflare account."
  type        = string
}

variable "name" {
  description = "Name of the Worker and its resources. Deployments with different names share nothing."
  type        = string
  default     = "sidejob"

  validation {
    condition     = can(regex("^[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?$", var.name))
    error_message = "name: expected at most 52 of a-z, 0-9 and -, without - at the ends."
  }
}

variable "public_url" {
  description = "Address of the Worker, such as https://sidejob.acme.workers.dev, or a domain that you route to it. QStash signs it."
  type        = string

  validation {
    condition     = can(regex("^https://[^/]+(/.*[^/])?$", var.public_url))
    error_message = "public_url: expected https:// and no slash at the end."
  }
}

variable "region" {
  description = "Region of the database, such as us-east-1 (AWS) or us-central1 (Google Cloud). The Worker is placed near it."
  type        = string
  default     = "us-east-1"
}

variable "build" {
  description = "Folder of the built Worker: npx wrangler deploy --dry-run --outdir dist/worker"
  type        = string
}

variable "files" {
  description = "Create a bucket for downloads, which needs R2 on the account."
  type        = bool
  default     = true
}

variable "qstash_token" {
  description = "From QStash's page in the Upstash console, like the signing keys."
  type        = string
  sensitive   = true
}

variable "qstash_current_signing_key" {
  type      = string
  sensitive = true
}

variable "qstash_next_signing_key" {
  type      = string
  sensitive = true
}

variable "api_key" {
  description = "API key with all permissions. Create it: openssl rand -hex 32"
  type        = string
  sensitive   = true

  validation {
    condition     = length(var.api_key) >= 16
    error_message = "api_key: expected at least 16 characters."
  }
}

variable "webhook_secret" {
  description = "Signs calls to push workers and callbacks: whsec_ and at least 24 bytes in base64."
  type        = string
  sensitive   = true

  validation {
    condition     = can(regex("^whsec_[A-Za-z0-9+/]{32,}={0,2}$", var.webhook_secret))
    error_message = "webhook_secret: expected whsec_ and at least 24 bytes in base64."
  }
}

variable "files_secret" {
  description = "Secret that signs addresses of files. Create it: openssl rand -hex 32"
  type        = string
  sensitive   = true
}

variable "settings" {
  description = "Other settings by name, such as SIDEJOB_LOG or SIDEJOB_ALLOW_HOSTS."
  type        = map(string)
  sensitive   = true
  default     = {}
}
