// The parts that the services work with.

import type { PriceOf } from "@pawl/core/policy/price";
import type { OnInternal } from "@pawl/platform/rpc/status";
import type { ArchiveReads } from "@pawl/platform/archive/store";
import type { Pool } from "@pawl/platform/db/pool";
import type { Blobs } from "@pawl/platform/values/blobs";
import type { Occurrences } from "@pawl/platform/queue/occurrences";
import type { DefinitionCache } from "../read/definition-cache.ts";
import type { PageSeal } from "../read/page-seal.ts";
import type { RunReader } from "../read/run-reader.ts";
import type { Seal } from "../read/seal.ts";
import type { Scheduler } from "../request/forward.ts";
import type { Fanout } from "../watch/fanout.ts";
import type { ThreadCursors } from "../watch/thread-cursors.ts";
import type { Watch } from "../watch/watch-run.ts";
import type { WatchThread } from "../watch/watch-thread.ts";

export interface ServiceParts {
  readonly pool: Pool;
  /** The bytes of values that are too large for the log. */
  readonly blobs: Pick<Blobs, "read">;
  /** Undefined if this deployment has none. */
  readonly archive: ArchiveReads | undefined;
  readonly scheduler: Scheduler;
  /** The prices by which schedulers reserve the cost of models. */
  readonly priceOf: PriceOf;
  readonly pages: PageSeal;
  readonly definitions: DefinitionCache;
  readonly reader: RunReader;
  readonly fanout: Fanout;
  readonly watch: Watch;
  readonly watchThread: WatchThread;
  readonly cursors: ThreadCursors;
  readonly seal: Seal;
  readonly occurrences: Occurrences;
  /** Called for a bug of Pawl that an answer inside a stream reports. */
  readonly onInternal: OnInternal;
}
