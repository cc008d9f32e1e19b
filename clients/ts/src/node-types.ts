// Node types and the executors that serve them.

import type { Client } from "@connectrpc/connect";
import type { Executor, NodeType, NodeTypeService } from "@pawl/proto/pawl/v1/node_type_service_pb";
import {
  type Caller,
  type Page,
  type PageOptions,
  type PawlCallOptions,
  present,
} from "./caller.ts";

export type NodeTypePage = Page<"nodeTypes", NodeType>;

export interface NodeTypes {
  /** The built-in types and all types that an executor ever registered, by name. Without schemas. */
  list(options?: PageOptions): Promise<NodeTypePage>;
  /** One type with its schemas. @throws PawlError NODE_TYPE_NOT_FOUND */
  get(type: string, options?: PawlCallOptions): Promise<NodeType>;
}

export interface Executors {
  /** The executors and handler processes that are connected to any scheduler. */
  list(options?: PawlCallOptions): Promise<readonly Executor[]>;
}

type Service = Client<typeof NodeTypeService>;

export const createNodeTypes = (service: Service, call: Caller): NodeTypes => ({
  list: (options = {}) => call(service.listNodeTypes, options),
  get: async (type, options = {}) =>
    present((await call(service.getNodeType, { ...options, type })).nodeType),
});

export const createExecutors = (service: Service, call: Caller): Executors => ({
  list: async (options = {}) => (await call(service.listExecutors, options)).executors,
});
