// Every limit of the engine, named, with its reason. A limit that is passed is LIMIT_EXCEEDED or a named violation, never a crash.

const KIB = 1024;
const MIB = 1024 * KIB;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const LIMITS = {
  /** One gRPC message, either way: bounds what a single call can make us allocate. */
  messageBytes: 4 * MIB,
  definitionBytes: 2 * MIB,
  /** YAML is read a hundred times slower than JSON; what is longer was written by a program, which can write JSON. */
  definitionYamlBytes: 64 * KIB,
  definitionNodes: 10_000,
  definitionEdges: 50_000,
  /** Run input, node output and any single event: the log never holds a megabyte. */
  valueBytes: 256 * KIB,
  /** A run's input: a start node's output is the input and a few words around it, and must fit too. */
  inputBytes: 256 * KIB - 64,
  /** What a node may read in all. */
  contextBytes: 2 * MIB,
  /** JSON.parse takes any depth, the later stringify does not: checked at the door. */
  jsonDepth: 64,
  jsonKeys: 10_000,
  jsonKeyBytes: 256,
  labelLength: 200,
  requestIdLength: 255,
  javascriptBytes: 64 * KIB,
  expressionBytes: 4 * KIB,
  expressionDepth: 32,
  templateBytes: 64 * KIB,
  templateHoles: 1_000,
  templateOutputBytes: MIB,
  /** Attempts a policy may ask for. */
  attemptsMax: 20,
  backoffMsMax: HOUR_MS,
  nodeTimeoutMs: 5 * MINUTE_MS,
  nodeTimeoutMsMax: DAY_MS,
  runDeadlineMs: HOUR_MS,
  runDeadlineMsMax: 30 * DAY_MS,
  delayMsMax: 365 * DAY_MS,
  /** Lost leases a node execution survives before it is dead-lettered (X10). */
  deliveriesMax: 3,
  httpRequestBytes: MIB,
  httpResponseBytes: 2 * MIB,
  httpTimeoutMs: 30_000,
  httpRedirects: 3,
  logMessageBytes: 16 * KIB,
  deltaBytes: 64 * KIB,
  pageSize: 50,
  pageSizeMax: 200,
  eventPageSize: 100,
  eventPageSizeMax: 1_000,
  priorityMax: 1_000,
} as const;
