// Notifications between schedulers: a scheduler queued jobs that another may have room for. Polling finds the jobs too, but later.

import { DEFAULT_SCHEMAS, type Schemas } from "../config/schemas.ts";
import { bossChannel, COMMAND_QUEUE } from "../queue/queue.ts";
import { ChannelListener } from "./channel.ts";

/** The channel that a tick with jobs notifies; payload `<sender> <nodeType>@<delayMs>,…`. */
const JOBS_CHANNEL = "pawl_jobs";

/** The channel that a change of pauses notifies; payload: their epoch. */
const PAUSES_CHANNEL = "pawl_pauses";

/** The types in one notification; polling finds the others. */
const TYPES_MAX = 50;

interface JobNotification {
  readonly nodeType: string;
  readonly delayMs: number;
}

/** The payload for jobs a scheduler queued: the earliest of each type. */
export function jobNotificationPayload(
  sender: string,
  jobs: readonly { readonly nodeType: string; readonly delayMs?: number }[],
): string {
  const earliest = new Map<string, number>();
  for (const { nodeType, delayMs = 0 } of jobs)
    earliest.set(nodeType, Math.min(delayMs, earliest.get(nodeType) ?? Infinity));
  const parts = [...earliest].slice(0, TYPES_MAX).map(([type, delayMs]) => `${type}@${delayMs}`);
  return `${sender} ${parts.join(",")}`;
}

/** Reads a payload. Empty for this scheduler's own notification and for one that this build does not understand. */
export function parseJobNotifications(payload: string, self: string): JobNotification[] {
  const [sender, list = ""] = payload.split(" ");
  if (sender === self) return [];
  return list.split(",").flatMap((part) => {
    const at = part.lastIndexOf("@");
    const delayMs = Number(part.slice(at + 1));
    return at > 0 && Number.isFinite(delayMs) ? [{ nodeType: part.slice(0, at), delayMs }] : [];
  });
}

export interface JobHandlers {
  readonly onJobs: (jobs: readonly JobNotification[]) => void;
  /** A client enqueued commands, or may have done so while this process did not listen. */
  readonly onCommands: () => void;
  /** A user paused or resumed something, or may have done so while this process did not listen. */
  readonly onPauses: () => void;
}

/** Listens on one connection for jobs of other schedulers, for commands and for pauses. */
export class JobListener extends ChannelListener {
  constructor(
    url: string,
    self: string,
    { onJobs, onCommands, onPauses }: JobHandlers,
    { queue }: Pick<Schemas, "queue"> = DEFAULT_SCHEMAS,
  ) {
    const commandChannel = bossChannel(queue);
    super(url, [JOBS_CHANNEL, commandChannel, PAUSES_CHANNEL], {
      onPayload: (payload, channel) => {
        if (channel === commandChannel) {
          if (payload === COMMAND_QUEUE) onCommands();
          return;
        }
        if (channel === PAUSES_CHANNEL) return onPauses();
        const jobs = parseJobNotifications(payload, self);
        if (jobs.length > 0) onJobs(jobs);
      },
      onListening: (isListening) => {
        // Polling covers every queue of nodes, but reads commands only rarely.
        if (!isListening) return;
        onCommands();
        onPauses();
      },
    });
  }
}
