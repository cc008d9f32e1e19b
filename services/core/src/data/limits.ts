// Every limit of the engine, named, with its reason. A limit that is passed is LIMIT_EXCEEDED or a named violation, never a crash.

const KIB = 1024;
const MIB = 1024 * KIB;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const LIMITS = {
  /** One gRPC message, sent or received, on every client and server: bounds what a single message can make a process allocate. */
  messageBytes: 4 * MIB,
  /** Values that one answer shows beside the exact bytes, in all: making them takes the gateway some 30 ms (measured). */
  readableBytes: MIB,
  /** Objects and lists inside one another in such a value: readers of protobuf refuse a hundred levels, and an object takes three. */
  readableDepth: 30,
  /** One item of a stream, alone in its message: the rest of the message is for the frame around it. */
  itemBytes: 4 * MIB - 64 * KIB,
  /** A message with several items is cut here, so that a slow link still carries a message every few seconds. */
  batchBytes: MIB,
  /** Assignments that wait to be written to one executor's stream; it gets no further claim beyond. */
  unsentBytes: 16 * MIB,
  definitionBytes: 2 * MIB,
  /** YAML is read a hundred times slower than JSON; what is longer was written by a program, which can write JSON. */
  definitionYamlBytes: 64 * KIB,
  definitionNodes: 10_000,
  definitionEdges: 50_000,
  /** Run input, node output and any single event: the log never holds a megabyte. */
  valueBytes: 256 * KIB,
  /** A run's input: a start node's output is the input and a few words around it, and must fit too. */
  inputBytes: 256 * KIB - 64,
  /** What a node may read in all; checked when the node is queued, and again when an executor is to get it. */
  contextBytes: 2 * MIB,
  /** JSON.parse takes any depth, the later stringify does not: checked at the door. */
  jsonDepth: 64,
  jsonKeys: 10_000,
  jsonKeyBytes: 256,
  labelLength: 200,
  requestIdLength: 255,
  /** What a person types to find a run. */
  searchLength: 200,
  /** Words of workflows that one search follows to their runs: bounds what a short text costs. */
  searchMatches: 200,
  /** How long an input may be remembered as started, and how long it is where the caller does not say. */
  inputKeyMsMax: 30 * DAY_MS,
  inputKeyMs: DAY_MS,
  javascriptBytes: 64 * KIB,
  expressionBytes: 4 * KIB,
  expressionDepth: 32,
  /** One contract: a schema of this size compiles within a blink, and one value is checked in bounded steps. */
  contractBytes: 32 * KIB,
  contractDepth: 32,
  /** Different patterns in all contracts of a definition: compiling one is the costly part of reading them. */
  contractPatterns: 128,
  /** Steps of checking one value against one contract, so that no schema keeps an executor busy. */
  contractSteps: 500_000,
  patternLength: 512,
  /** Instructions a pattern may unfold to; matching costs at most this times the text. */
  patternSize: 2_000,
  templateBytes: 64 * KIB,
  templateHoles: 1_000,
  templateOutputBytes: MIB,
  /** Items of a map or a loop. */
  scopeWidth: 10_000,
  /** Iterations of one map that are under way at once. */
  scopeParallelism: 1_000,
  /** Iterations of a loop that names no bound of its own. */
  loopIterations: 50,
  /** Runs below runs; a workflow that starts itself ends here. */
  runDepth: 10,
  /** Attempts a policy may ask for. */
  attemptsMax: 20,
  backoffMsMax: HOUR_MS,
  /** The longest a provider's Retry-After is obeyed. */
  retryAfterMsMax: HOUR_MS,
  nodeTimeoutMs: 5 * MINUTE_MS,
  nodeTimeoutMsMax: DAY_MS,
  /** How long after its timeout a claim may still report: the way to the executor and back, and a busy machine. */
  timeoutGraceMs: 10_000,
  /** As much more where a node is moderated, which its timeout does not count: three calls of a minute before it and after it. */
  moderationGraceMs: 6 * MINUTE_MS,
  runDeadlineMs: HOUR_MS,
  runDeadlineMsMax: 30 * DAY_MS,
  delayMsMax: 365 * DAY_MS,
  /** How long an approval may stay open. */
  approvalDeadlineMsMax: 365 * DAY_MS,
  approvalMessageLength: 4_000,
  /** Free texts by which people find what is theirs to answer. */
  approvalAssignees: 32,
  /** Defaults of a definition that are held against their schema when it is saved: each compiles one. */
  approvalDefaults: 50,
  /** Lost leases a node execution survives before it is dead-lettered. */
  deliveriesMax: 3,
  httpRequestBytes: MIB,
  httpResponseBytes: 2 * MIB,
  /** A streamed answer with its framing; the text in it is bounded by valueBytes. */
  llmStreamBytes: 32 * MIB,
  /** One event of such a stream. */
  llmEventBytes: MIB,
  httpTimeoutMs: 30_000,
  httpRedirects: 3,
  /** Rows of one query; their weight is bounded by valueBytes. */
  queryRowsMax: 10_000,
  logMessageBytes: 16 * KIB,
  deltaBytes: 64 * KIB,
  /** A media type; registered ones are far shorter. */
  mimeLength: 128,
  /** A recurrence; a calendar entry with a year of exceptions is shorter. */
  scheduleExpressionLength: 4 * KIB,
  /** Times of one preview, and how many where the caller does not say. */
  previewTimesMax: 50,
  previewTimes: 5,
  /** Dead letters a command deals with. */
  deadLetters: 100,
  deadLettersMax: 1_000,
  redrivesPerSecond: 50,
  redrivesPerSecondMax: 1_000,
  /** A redrive answers after this time, done or not: well below the deadline of a call. */
  redriveMs: 10_000,
  pageSize: 50,
  pageSizeMax: 200,
  eventPageSize: 100,
  eventPageSizeMax: 1_000,
  priorityMax: 1_000,
  /** A concurrency or rate key once its template is filled in. */
  keyBytes: 256,
  /** Slots of one concurrency key: whoever frees one counts the others. */
  slotsMax: 1_000,
  /** Starts within one window of a rate; all of them are remembered. */
  rateMax: 1_000,
  ratePerMsMax: DAY_MS,
} as const;
