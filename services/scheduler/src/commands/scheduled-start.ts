// The start that a schedule asks for: checked when the schedule is saved, made when it fires.

import { create } from "@bufbuild/protobuf";
import type { ScheduleRecord } from "@pawl/platform/store/schedules/schedules";
import { type StartRunRequest, StartRunRequestSchema } from "@pawl/proto/pawl/v1/run_service_pb";

export const startRequestOf = ({ spec }: ScheduleRecord): StartRunRequest =>
  create(StartRunRequestSchema, {
    workflowId: spec.workflowId,
    version: spec.workflowVersion,
    inputJson: Buffer.from(spec.input),
    priority: spec.priority,
  });
