// Judges the imports of one file by the room table.
import { posix } from "node:path";
import { LEVELS, ROOMS } from "./room-table.ts";
import type { Room } from "./room-table.ts";

/** Package name, and the folder of its `./*` export. */
const PACKAGES: Readonly<Record<string, string>> = {
  "@pawl/proto": "proto/gen/ts/",
  "@pawl/core": "services/core/src/",
  "@pawl/platform": "services/platform/src/",
  "@pawl/scheduler": "services/scheduler/src/",
  "@pawl/executor": "services/executor/src/",
  "@pawl/gateway": "services/gateway/src/",
  "@pawl/client": "clients/ts/src/",
  "@pawl/cli": "clients/cli/src/",
  "@pawl/handler": "clients/handler/src/",
  "@pawl/web": "clients/web/src/",
  "@pawl/deploy": "deploy/",
  "@pawl/test": "test/",
};

/** A specifier as the table names it: our path, `node:x` or `npm:package/sub`. */
export function targetOf(path: string, specifier: string): string {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(path), specifier);
  // `#x` is an entry of the package's own `imports`.
  if (/^(node:|#)/.test(specifier)) return specifier;
  const [scope = "", name = "", ...rest] = specifier.split("/");
  const folder = PACKAGES[`${scope}/${name}`];
  return folder === undefined ? `npm:${specifier}` : folder + rest.join("/");
}

/** The room a file belongs to. */
function roomOf(path: string): Room | undefined {
  return ROOMS.filter(({ folder }) => path.startsWith(folder)).toSorted(
    (one, other) => other.folder.length - one.folder.length,
  )[0];
}

const covers = (start: string, target: string): boolean =>
  target.startsWith(start) &&
  // `npm:pg` must not stand for `npm:pg-boss`; what ends in / or : is open.
  (/[/:]$/.test(start) || !start.startsWith("npm:") || /^(\/|$)/.test(target.slice(start.length)));

/** Why a file may not import a target, or undefined when it may. */
export function objection(path: string, specifier: string): string | undefined {
  const room = roomOf(path);
  if (room === undefined) return "the file is in no room of the table";
  const target = targetOf(path, specifier);
  const banned = Object.entries(room.never ?? {}).find(([start]) => covers(start, target));
  if (banned !== undefined) return banned[1];
  if (![room.folder, ...room.may].some((start) => covers(start, target))) {
    return `${room.folder} may import only ${room.may.join(", ") || "itself"}`;
  }
  const refused = room.only?.find(({ of, may }) => target.startsWith(of) && !may.test(target));
  if (refused !== undefined) return refused.why;
  return levelObjection(path, target);
}

/** A room imports itself and rooms of lower levels, so no cycle can form; files beside the rooms, which compose them, import any. */
function levelObjection(path: string, target: string): string | undefined {
  const [part, levels] = Object.entries(LEVELS).find(([start]) => path.startsWith(start)) ?? [];
  if (part === undefined || levels === undefined || !target.startsWith(part)) return undefined;
  const roomIn = (file: string): string | undefined =>
    file.slice(part.length).split("/").slice(0, -1)[0];
  const room = roomIn(path);
  const level = (name: string): number => levels.findIndex((names) => names.includes(name));
  if (room === undefined) return undefined;
  if (level(room) < 0) return `the room ${room} has no level in the table`;
  const other = roomIn(target);
  if (other === undefined || other === room || level(other) < level(room)) return undefined;
  return `${part} imports only downwards, and ${other} is not below ${room}`;
}
