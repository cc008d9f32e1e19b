// The text that `npm start` prints when everything runs: the addresses, and the next commands. Each address and each command has its own
// line that fits 80 columns. A person cannot copy or click one that the terminal breaks.

type BannerFacts = {
  readonly url: string;
  readonly runId: string;
  readonly status: string;
  /** The output of the sample run, in lines that fit. */
  readonly summary: readonly string[];
  /** The address to which handler processes connect. */
  readonly handlerAddress: string;
  readonly logDir: string;
  /** False when the console could not be built. */
  readonly hasConsole: boolean;
  /** False when everything stops after the sample run. */
  readonly stays: boolean;
  /** False when the command line needs the address. */
  readonly isDefaultPort: boolean;
  /** Whether a person reads it on a terminal. Then the address is bold. */
  readonly isTerminal: boolean;
};

const BOLD = "\u001b[1m";
const PLAIN = "\u001b[0m";

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
    ...(facts.stays ? [`Handlers of your own connect to ${facts.handlerAddress}`] : []),
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
