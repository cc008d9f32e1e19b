// The status of a thread as a word with a colour.

import { threadStatusName } from "@pawl/client";
import type { ThreadStatus } from "@pawl/proto/pawl/v1/thread_pb";
import type { ReactNode } from "react";

const TONES: Readonly<Partial<Record<string, string>>> = {
  idle: "is-good",
  busy: "is-busy",
  interrupted: "is-held",
  error: "is-bad",
};

export function ThreadState({ status }: { readonly status: ThreadStatus }): ReactNode {
  const name = threadStatusName(status);
  return <span className={`state-word ${TONES[name] ?? ""}`}>{name}</span>;
}
