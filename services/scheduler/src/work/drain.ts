// This scheduler is stopping: its executors are asked to go on elsewhere. They keep their claims, since an executor's
// identity is its own and not the connection's.

import { create } from "@bufbuild/protobuf";
import { SchedulerItemSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { Roster } from "./roster.ts";

export function drainExecutors(roster: Roster): void {
  for (const session of roster.sessions) {
    session.draining = true;
    session.send(create(SchedulerItemSchema, { item: { case: "drain", value: {} } }));
  }
}
