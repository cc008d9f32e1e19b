// The filters of the list of runs, by the name they have in the address.

import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";

interface StatusFilter {
  readonly name: string;
  readonly label: string;
  readonly statuses: readonly RunStatus[];
}

export const STATUS_FILTERS: readonly StatusFilter[] = [
  { name: "", label: "All", statuses: [] },
  {
    name: "active",
    label: "Active",
    statuses: [
      RunStatus.PENDING,
      RunStatus.SCHEDULED,
      RunStatus.RUNNING,
      RunStatus.RETRYING,
      RunStatus.PAUSED,
      RunStatus.COMPENSATING,
    ],
  },
  { name: "waiting", label: "Waiting", statuses: [RunStatus.WAITING] },
  { name: "completed", label: "Completed", statuses: [RunStatus.COMPLETED] },
  { name: "failed", label: "Failed", statuses: [RunStatus.FAILED] },
  { name: "timeout", label: "Timed out", statuses: [RunStatus.TIMEOUT] },
  { name: "cancelled", label: "Cancelled", statuses: [RunStatus.CANCELLED] },
];

/** The filter of a name. The filter for all runs if there is none. */
export const statusFilter = (name: string): StatusFilter | undefined =>
  STATUS_FILTERS.find((filter) => filter.name === (ALIASES[name] ?? name)) ?? STATUS_FILTERS[0];

/** The word of logs and nodes for a status of runs. */
const ALIASES: Readonly<Record<string, string>> = { timed_out: "timeout" };

/** The step of j and k in a list of `count`. -1 means that nothing is chosen yet. */
export const stepChoice = (chosen: number, step: 1 | -1, count: number): number =>
  count === 0 ? -1 : Math.min(Math.max(chosen + step, 0), count - 1);

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text can only be the id of a run. */
export const isRunId = (text: string): boolean => UUID.test(text);

/** What the list asks for by the text of the search box: a filter if it compares something, and a search for words otherwise. */
export const searchOf = (text: string): { readonly query: string } | { readonly filter: string } =>
  /[=<>:]/.test(text) ? { filter: text } : { query: text };
