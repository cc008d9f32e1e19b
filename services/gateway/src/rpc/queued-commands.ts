// The calls of QueueService about commands of the workflow queue: reads here, changes checked and forwarded.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { readCommand } from "@pawl/platform/queue/command-reads";
import { listCommands, startedRuns } from "@pawl/platform/store/survey/reads";
import { valuesOf } from "@pawl/platform/wire/fields";
import {
  commandIdOf,
  commandNotFound,
  fromWireCommandState,
  parseCommandChange,
  parseEnqueue,
  toWireCommand,
  toWireListedCommand,
} from "@pawl/platform/wire/queued-command";
import {
  type EnqueueCommandRequest,
  GetCommandResponseSchema,
  ListCommandsResponseSchema,
  type QueueService,
} from "@pawl/proto/pawl/v1/queue_service_pb";
import { forwarded, sendAsJson } from "../request/forward.ts";
import type { ServiceParts } from "./service-parts.ts";

type Calls =
  | "enqueueCommand"
  | "getCommand"
  | "listCommands"
  | "cancelCommand"
  | "redriveCommand"
  | "discardCommand";

export const queuedCommands = ({
  pool,
  pages,
  scheduler: { queues },
}: ServiceParts): Pick<ServiceImpl<typeof QueueService>, Calls> => ({
  enqueueCommand: forwarded(queues.enqueueCommand, sendEnqueue),
  cancelCommand: forwarded(queues.cancelCommand, parseCommandChange),
  redriveCommand: forwarded(queues.redriveCommand, parseCommandChange),
  discardCommand: forwarded(queues.discardCommand, parseCommandChange),
  getCommand: async ({ commandId }) => {
    const jobId = commandIdOf(commandId);
    const job = await readCommand(pool, jobId);
    if (job === undefined || (job.command?.tenantId ?? DEFAULT_TENANT) !== DEFAULT_TENANT)
      throw commandNotFound(jobId);
    const runs = await startedRuns(pool, DEFAULT_TENANT, [job]);
    return create(GetCommandResponseSchema, { command: toWireCommand(job, runs.get(jobId)) });
  },
  listCommands: async (request) => {
    const states = valuesOf("states", "a state", request.states, fromWireCommandState);
    const { rows, runs, nextPageToken } = await pages.page(request, (page) =>
      listCommands(pool, DEFAULT_TENANT, states, page),
    );
    const commands = rows.map((job) => toWireListedCommand(job, runs.get(job.jobId)));
    return create(ListCommandsResponseSchema, { commands, nextPageToken });
  },
});

/** Parses a command. The gateway sends an input that came as a Value as JSON. @throws INPUT_INVALID, LIMIT_EXCEEDED */
function sendEnqueue(request: EnqueueCommandRequest): void {
  const { inputJson } = parseEnqueue(request).command;
  if (inputJson !== undefined) sendAsJson(request, inputJson);
}
