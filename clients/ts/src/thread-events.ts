// What events have about threads and assistants, from the wire.

import type { Payloads } from "@pawl/core/log/event-table";
import { runId } from "@pawl/core/name/ids";
import type { RunStarted, RunThreadTaken } from "@pawl/proto/pawl/v1/event_pb";
import { jsonTextOf } from "./json.ts";
import { keyTaintsOf } from "./taint.ts";

export function threadLinkOf({
  threadId,
  threadPosition,
  yieldsThread,
}: RunStarted): Pick<Payloads["run.started"], "thread"> {
  if (threadId === "") return {};
  const position = Number(threadPosition);
  return { thread: { threadId, position, ...(yieldsThread ? { yields: true } : {}) } };
}

export const assistantOf = ({
  assistantId,
  assistantVersion: version,
  configJson,
}: RunStarted): Pick<Payloads["run.started"], "assistant"> =>
  assistantId === ""
    ? {}
    : { assistant: { assistantId, version, config: jsonTextOf(configJson) ?? "{}" } };

export const takenOf = ({
  threadId,
  fromRunId,
  taint,
}: RunThreadTaken): Payloads["run.thread.taken"] => ({
  threadId,
  ...(fromRunId === "" ? {} : { fromRunId: runId(fromRunId) }),
  ...keyTaintsOf(taint),
});
