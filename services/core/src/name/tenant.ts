// Every row belongs to a tenant. There is one tenant until callers are authenticated.

export const DEFAULT_TENANT = "default";
