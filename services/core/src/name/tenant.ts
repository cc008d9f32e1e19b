// Every row belongs to a tenant. Until callers are authenticated there is one.

export const DEFAULT_TENANT = "default";
