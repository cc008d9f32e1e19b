// A tag as clients see it.

import { create } from "@bufbuild/protobuf";
import { ExecutionTagSchema, type ExecutionTag } from "@pawl/proto/pawl/v1/event_pb";
import type { TagRecord } from "../store/log/log.ts";
import { toJsonBytes, toTimestamp } from "./scalar.ts";

/** A tag on the wire. */
export const toWireTag = ({ seq, nodeId, iteration, tag, metadata, at }: TagRecord): ExecutionTag =>
  create(ExecutionTagSchema, {
    eventId: BigInt(seq),
    nodeId,
    iteration,
    tag,
    metadataJson: toJsonBytes(metadata),
    time: toTimestamp(at),
  });
