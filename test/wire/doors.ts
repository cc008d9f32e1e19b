// Every way into the gateway for a client that has the contract: gRPC by two implementations, gRPC-web, and Connect in binary and in JSON.
// A test sends the same calls through all of them.
import { type Client, createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { ApprovalService } from "@pawl/proto/pawl/v1/approval_service_pb";
import { EventService } from "@pawl/proto/pawl/v1/event_service_pb";
import { NodeTypeService } from "@pawl/proto/pawl/v1/node_type_service_pb";
import { QueueService } from "@pawl/proto/pawl/v1/queue_service_pb";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { WorkflowService } from "@pawl/proto/pawl/v1/workflow_service_pb";
import { grpcJsTransport } from "./grpc-js-transport.ts";

/** One way in. */
export type Door = {
  readonly name: string;
  readonly workflows: Client<typeof WorkflowService>;
  readonly runs: Client<typeof RunService>;
  readonly events: Client<typeof EventService>;
  readonly queues: Client<typeof QueueService>;
  readonly nodeTypes: Client<typeof NodeTypeService>;
  readonly approvals: Client<typeof ApprovalService>;
};

/** The names of all doors, for titles. */
export const DOORS = ["grpc-js", "gRPC", "gRPC-web", "Connect", "Connect JSON"] as const;

/** Opens all doors of a gateway. */
export function openDoors(baseUrl: string): {
  readonly doors: readonly Door[];
  close(): void;
} {
  const native = grpcJsTransport(new URL(baseUrl).host);
  const transports: Record<(typeof DOORS)[number], Transport> = {
    "grpc-js": native,
    gRPC: createGrpcTransport({ baseUrl }),
    "gRPC-web": createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
    Connect: createConnectTransport({ baseUrl, httpVersion: "2" }),
    "Connect JSON": createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
  };
  const doors = Object.entries(transports).map(([name, transport]) => ({
    name,
    workflows: createClient(WorkflowService, transport),
    runs: createClient(RunService, transport),
    events: createClient(EventService, transport),
    queues: createClient(QueueService, transport),
    nodeTypes: createClient(NodeTypeService, transport),
    approvals: createClient(ApprovalService, transport),
  }));
  return { doors, close: () => native.close() };
}
