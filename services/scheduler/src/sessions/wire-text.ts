// Texts in reports of executors. They are written to jsonb, which refuses NUL and lone surrogates. This file removes both, so no executor can
// make a tick fail.

import { LIMITS } from "@pawl/core/data/limits";
import type { Media, ToolCall } from "@pawl/core/log/event";
import type {
  Media as WireMedia,
  ToolCall as WireToolCall,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";

const MESSAGE_LENGTH = 4_096;
/** The maximum length of a name. */
export const NAME_LENGTH = 128;

/** Text that PostgreSQL accepts. */
export const cleanText = (text: string, lengthMax = MESSAGE_LENGTH): string =>
  text.slice(0, lengthMax).toWellFormed().replaceAll("\0", "");

/** A call of a tool, as a turn of an agent reports it. */
export const callOf = ({ id, name, fault }: WireToolCall): ToolCall => ({
  id: cleanText(id, NAME_LENGTH),
  name: cleanText(name, NAME_LENGTH),
  ...(fault === "" ? {} : { fault: cleanText(fault) }),
});

/** The media of a delta, or undefined if there is none. A cut address would lead to another place, so it is dropped. */
export function mediaOf(wire: WireMedia | undefined): Media | undefined {
  if (wire === undefined || wire.url === "" || wire.url.length > LIMITS.deltaBytes)
    return undefined;
  return {
    url: cleanText(wire.url, LIMITS.deltaBytes),
    mime: cleanText(wire.mime, LIMITS.mimeLength),
  };
}
