// Node type → handler.

import type { Handler } from "./handler.ts";

export type Registry = ReadonlyMap<string, Handler>;

/** Handlers by type. If two have the same type, the later one counts. */
export const registryOf = (handlers: readonly Handler[]): Registry =>
  new Map(handlers.map((handler) => [handler.type, handler]));
