// The status of a run by its short name.

import { runStatusName } from "@pawl/client";
import type { RunStatus } from "@pawl/core/log/event";
import type { RunStatus as WireStatus } from "@pawl/proto/pawl/v1/run_pb";

/** The short name of a status on the wire. */
export const runStatus = (status: WireStatus): RunStatus => runStatusName(status) as RunStatus; // the enum has the words of the union
