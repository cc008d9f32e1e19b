// What is printed when everything is up: where to look, what to type next. Addresses and commands stand on lines of their own that
// fit 80 columns: a terminal that breaks one makes it useless to copy and to click.

/** What there is to tell. */
export type BannerFacts = {
  readonly url: string;
  readonly runId: string;
  readonly status: string;
  /** What the sample run wrote, in lines that fit. */
  readonly summary: readonly string[];
  readonly logDir: string;
  /** False when the console could not be built. */
  readonly hasConsole: boolean;
  /** False when everything stops right after. */
  readonly stays: boolean;
  /** False when the command line must be told the address. */
  readonly isDefaultPort: boolean;
  /** Whether a person looks at it, so that the address may be set off. */
  readonly isTerminal: boolean;
};

const BOLD = "\u001b[1m";
const PLAIN = "\u001b[0m";

/** The lines. */
export function banner(facts: BannerFacts): string {
  const { url, runId } = facts;
  const bold = (text: string): string => (facts.isTerminal ? `${BOLD}${text}${PLAIN}` : text);
  const where = facts.hasConsole ? `Open ${url}` : `API: ${url}`;
  return [
    "",
    ...facts.summary.map((line) => `  ${line}`),
    "",
    bold(facts.stays ? `Pawl is up. ${where}` : `Pawl was up at ${url}.`),
    "",
    `The sample run (${facts.status}):`,
    `  ${url}/runs/${runId}`,
    "",
    ...(facts.stays ? nextSteps(facts) : []),
    `Logs: ${facts.logDir}`,
    ...(facts.stays ? ["Ctrl-C stops everything."] : []),
    "",
  ].join("\n");
}

const nextSteps = ({ url, runId, isDefaultPort }: BannerFacts): readonly string[] => [
  "In another terminal:",
  "",
  ...(isDefaultPort ? [] : [`  export PAWL_ADDRESS=${url}`]),
  "  ./pawl workflow list",
  "  ./pawl run start order-fulfilment --sample --wait",
  "",
  "Watch the sample run again, by the command line, plain HTTP or gRPC:",
  "",
  `  RUN=${runId}`,
  "  ./pawl run watch $RUN",
  `  curl -N ${url}/execute/workflows/$RUN/events`,
  "  npm run -s buf -- curl --http2-prior-knowledge --protocol grpc \\",
  '    -d "{\\"run_id\\":\\"$RUN\\"}" \\',
  `    ${url}/pawl.v1.EventService/WatchRun`,
  "",
  "See a run survive the death of its executor: npm run demo",
  "",
];
