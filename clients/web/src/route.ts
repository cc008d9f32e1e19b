// The address of each view, so that a user can link to every view, reload it and leave it by the back button. The functions are pure.

export type Route =
  | {
      readonly page: "runs";
      readonly status: string;
      readonly workflowId: string;
      /** The text in the search box. */
      readonly query: string;
      readonly pageToken: string;
    }
  | { readonly page: "run"; readonly runId: string; readonly nodeKey: string }
  | { readonly page: "approvals" }
  | { readonly page: "threads"; readonly pageToken: string }
  | { readonly page: "thread"; readonly threadId: string; readonly pageToken: string }
  | {
      readonly page: "webhooks";
      readonly endpointId: string;
      readonly state: string;
      readonly pageToken: string;
    }
  | { readonly page: "queues"; readonly nodeType: string; readonly range: string }
  | { readonly page: "workflows" }
  | { readonly page: "workflow"; readonly workflowId: string }
  | { readonly page: "lost"; readonly path: string };

export function readRoute(path: string, query: string): Route {
  const parts = path.split("/").filter((part) => part !== "");
  const params = new URLSearchParams(query);
  const [first, second, third] = parts.map(decode);
  if (first === undefined) {
    return {
      page: "runs",
      status: params.get("status") ?? "",
      workflowId: params.get("workflow") ?? "",
      query: params.get("q") ?? "",
      pageToken: params.get("page") ?? "",
    };
  }
  if (third === undefined && first === "runs") {
    return second === undefined
      ? readRoute("/", query)
      : { page: "run", runId: second, nodeKey: params.get("node") ?? "" };
  }
  if (third === undefined && first === "workflows") {
    return second === undefined ? { page: "workflows" } : { page: "workflow", workflowId: second };
  }
  if (third === undefined && first === "threads") {
    const pageToken = params.get("page") ?? "";
    return second === undefined
      ? { page: "threads", pageToken }
      : { page: "thread", threadId: second, pageToken };
  }
  if (second === undefined && first === "approvals") return { page: "approvals" };
  if (second === undefined && first === "queues")
    return {
      page: "queues",
      nodeType: params.get("type") ?? "",
      range: params.get("range") ?? "",
    };
  if (second === undefined && first === "webhooks")
    return {
      page: "webhooks",
      endpointId: params.get("endpoint") ?? "",
      state: params.get("state") ?? "",
      pageToken: params.get("page") ?? "",
    };
  return { page: "lost", path };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a list. Empty filters are left out. */
function listPath(path: string, filters: readonly (readonly [string, string | undefined])[]) {
  const entries = filters.filter((entry): entry is [string, string] => (entry[1] ?? "") !== "");
  const query = new URLSearchParams(entries).toString();
  return query === "" ? path : `${path}?${query}`;
}

/** The address of the list of runs. */
export function runsPath(filter: {
  status?: string;
  workflowId?: string;
  query?: string;
  pageToken?: string;
}): string {
  return listPath("/", [
    ["status", filter.status],
    ["workflow", filter.workflowId],
    ["q", filter.query],
    ["page", filter.pageToken],
  ]);
}

/** The address of the queues, with plots of one node type over a range. */
export const queuesPath = (filter: { nodeType?: string; range?: string }): string =>
  listPath("/queues", [
    ["type", filter.nodeType],
    ["range", filter.range],
  ]);

/** The address of the webhooks, with the deliveries of one endpoint or state. */
export const webhooksPath = (filter: {
  endpointId?: string;
  state?: string;
  pageToken?: string;
}): string =>
  listPath("/webhooks", [
    ["endpoint", filter.endpointId],
    ["state", filter.state],
    ["page", filter.pageToken],
  ]);

/** The address of the list of threads. */
export const threadsPath = ({ pageToken }: { pageToken?: string }): string =>
  listPath("/threads", [["page", pageToken]]);

/** The address of a thread, with earlier turns if a page is named. */
export const threadPath = (threadId: string, pageToken = ""): string =>
  listPath(`/threads/${encodeURIComponent(threadId)}`, [["page", pageToken]]);

/** The address of a run, with a node's drawer open if one is named. */
export const runPath = (runId: string, nodeKey = ""): string =>
  `/runs/${encodeURIComponent(runId)}${nodeKey === "" ? "" : `?node=${encodeURIComponent(nodeKey)}`}`;

export const workflowPath = (workflowId: string): string =>
  `/workflows/${encodeURIComponent(workflowId)}`;
