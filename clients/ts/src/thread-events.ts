// What events say about threads, from the wire.

import type { Payloads } from "@pawl/core/log/event-table";
import { runId } from "@pawl/core/name/ids";
import type { RunStarted, RunThreadTaken } from "@pawl/proto/pawl/v1/event_pb";
import { keyTaintsOf } from "./taint.ts";

export const threadLinkOf = ({
  threadId,
  threadPosition,
}: RunStarted): Pick<Payloads["run.started"], "thread"> =>
  threadId === "" ? {} : { thread: { threadId, position: Number(threadPosition) } };

export const takenOf = ({
  threadId,
  fromRunId,
  taint,
}: RunThreadTaken): Payloads["run.thread.taken"] => ({
  threadId,
  ...(fromRunId === "" ? {} : { fromRunId: runId(fromRunId) }),
  ...keyTaintsOf(taint),
});
