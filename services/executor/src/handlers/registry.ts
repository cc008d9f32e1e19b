// Node type → handler.

import type { Handler } from "./handler.ts";

export type Registry = ReadonlyMap<string, Handler>;

/** Handlers by type; if two have one type, the later wins. */
export const registryOf = (handlers: readonly Handler[]): Registry =>
  new Map(handlers.map((handler) => [handler.type, handler]));
