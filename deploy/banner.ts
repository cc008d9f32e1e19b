// What is printed when everything is up: where to look, and how to watch the sample run by other means.

/** What there is to tell. */
export type BannerFacts = {
  readonly url: string;
  readonly runId: string;
  readonly status: string;
  readonly logDir: string;
  readonly workflows: readonly string[];
  /** False when the console could not be built. */
  readonly hasConsole: boolean;
  /** False when everything stops right after. */
  readonly stays: boolean;
};

/** The lines, without colour: they are meant to be copied. */
export function banner(facts: BannerFacts): string {
  const { url, runId } = facts;
  const request = JSON.stringify({ run_id: runId });
  const rows: readonly (readonly [string, string])[] = [
    [facts.hasConsole ? "console, API" : "API", url],
    ["sample run", `${url}/runs/${runId}`],
    ["its id", `${runId} (${facts.status})`],
    ["workflows", facts.workflows.join(", ")],
    ["logs", facts.logDir],
  ];
  return [
    "",
    facts.stays ? "Pawl is up." : "Pawl was up.",
    "",
    ...rows.map(([name, value]) => `  ${name.padEnd(13)} ${value}`),
    "",
    "Watch the sample run by other means:",
    "",
    `  curl -N ${url}/execute/workflows/${runId}/events`,
    `  npm run buf -- curl --http2-prior-knowledge --protocol grpc -d '${request}' ${url}/pawl.v1.EventService/WatchRun`,
    `  npm run pawl -- run watch ${runId} --address ${url}`,
    "",
    ...(facts.stays ? ["Ctrl-C stops everything.", ""] : []),
  ].join("\n");
}
