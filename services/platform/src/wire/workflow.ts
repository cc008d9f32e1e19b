// A workflow and the broken rules of a definition as clients see them.

import { create } from "@bufbuild/protobuf";
import type { Violation } from "@pawl/core/definition/shape";
import {
  ViolationSchema,
  WorkflowSchema,
  type Violation as WireViolation,
  type Workflow as WireWorkflow,
} from "@pawl/proto/pawl/v1/workflow_pb";
import type { WorkflowRecord } from "../store/workflows/workflows.ts";
import { toJsonBytes, toTimestamp } from "./scalar.ts";

/** The workflow at one version. Lists leave out its definition. */
export function toWireWorkflow(workflow: WorkflowRecord): WireWorkflow {
  return create(WorkflowSchema, {
    workflowId: workflow.workflowId,
    version: workflow.version,
    title: workflow.title,
    definitionJson: toJsonBytes(workflow.body ?? undefined),
    definitionDigest: workflow.digest,
    createTime: toTimestamp(workflow.createdAt),
    updateTime: toTimestamp(workflow.updatedAt),
    nodeCount: workflow.nodeCount,
  });
}

/** One broken rule, or one warning. */
export const toWireViolation = ({ position, ...same }: Violation): WireViolation =>
  create(ViolationSchema, { ...same, ...position });
