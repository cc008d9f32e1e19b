// Every case of the kit, by group.

import { ACT } from "./cases/act.ts";
import { CANCEL } from "./cases/cancel.ts";
import { EFFECTS } from "./cases/effects.ts";
import { FAIL } from "./cases/fail.ts";
import { HELLO } from "./cases/hello.ts";
import { HOSTILE } from "./cases/hostile.ts";
import { INVOKE } from "./cases/invoke.ts";
import { LEAVE } from "./cases/leave.ts";
import { LIMITS } from "./cases/limits.ts";
import { QUEUE } from "./cases/queue.ts";
import { STREAM } from "./cases/stream.ts";
import { ZOMBIE } from "./cases/zombie.ts";
import type { Group } from "./case.ts";

export const GROUPS: readonly Group[] = [
  HELLO,
  INVOKE,
  QUEUE,
  CANCEL,
  STREAM,
  EFFECTS,
  FAIL,
  ACT,
  ZOMBIE,
  LEAVE,
  HOSTILE,
  LIMITS,
];
