// Every limit of Pawl, with its reason. Beyond a limit a caller gets LIMIT_EXCEEDED or a named violation, never a crash.

const KIB = 1024;
const MIB = 1024 * KIB;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const LIMITS = {
  /** One gRPC message, sent or received, on every client and server. It bounds the memory of a single message. */
  messageBytes: 4 * MIB,
  /** All values that one answer shows beside the exact bytes. The gateway needs about 30 ms to make them (measured). */
  readableBytes: MIB,
  /** Nested objects and lists in such a value. Readers of protobuf refuse a hundred levels, and an object takes three. */
  readableDepth: 30,
  /** One item of a stream, alone in its message. The rest of the message is for its frame. */
  itemBytes: 4 * MIB - 64 * KIB,
  /** A message with several items is cut at this size, so that even a slow link carries a message every few seconds. */
  batchBytes: MIB,
  /** Assignments that wait to be written to one executor's stream. Beyond this the executor gets no further claim. */
  unsentBytes: 16 * MIB,
  /** Submissions under way on one stream of SubmitRuns. Each holds an unsent answer, or a place at the tail of its run. */
  submissions: 1_000,
  /** Runs of one stream of Watch. Each has a reader at the gateway. */
  watchedRuns: 100,
  definitionBytes: 2 * MIB,
  /** YAML takes a hundred times as long to read as JSON. A longer text comes from a program, which can write JSON. */
  definitionYamlBytes: 64 * KIB,
  definitionNodes: 10_000,
  definitionEdges: 50_000,
  /** Each costs a search through the graph when a definition is checked. */
  loopEdges: 500,
  /** A value in the log and any single event. A larger value is stored outside of the log. No row of the log reaches a megabyte. */
  valueBytes: 256 * KIB,
  /** A value outside of the log, and the keys of all its objects. Two of them fit into one message of a handler process. */
  storedBytes: 7 * MIB,
  storedKeys: 1_000_000,
  /** A part of such a value. A store holds and a call carries one part, so no process but an executor needs the whole value. */
  storedPartBytes: MIB,
  /** The values that one node reads, with everything else that it reads. An executor holds them while it runs the node. */
  resolvedBytes: 15 * MIB,
  /** One message between an executor and a handler process, and one item in it. Handler processes accept 16 MiB. */
  handlerMessageBytes: 16 * MIB,
  handlerItemBytes: 16 * MIB - 64 * KIB,
  /** How long storing one value may take. It is far shorter than the grace after which an unused value is removed. */
  storeValueMs: 30_000,
  /** Values that one scheduler stores at the same time. Each needs the memory of a part. */
  storingMax: 64,
  /** A run's input in the log. The output of a start node is the input with a small frame, and must fit too. */
  inputBytes: 256 * KIB - 64,
  /** A run's input in the request that starts it. The scheduler stores a large one outside of the log. */
  startInputBytes: 3 * MIB - 256 * KIB,
  /** Keys of a run's memory, and the bytes of all its values: half of what a node may read. One value has at most valueBytes. */
  memoryKeys: 1_000,
  memoryBytes: MIB,
  /** Names of labels in one run, and the origins that a value keeps of each. They bound the labels of an event. */
  taintLabels: 64,
  taintOrigins: 8,
  /** Rules of one workflow about labels. The planner compares each with the nodes that it names. */
  taintRules: 100,
  /** The reason for which a node drops labels. */
  taintReasonLength: 1_000,
  /** The goal of a run, each of its constraints, and how many constraints it has. Every context of the run has them. */
  goalLength: 4_000,
  constraintLength: 1_000,
  constraints: 32,
  /** Nodes in each list of a run's state. Of the visited ones it has the newest. */
  visitedNodes: 1_000,
  /** What users say about a run to find it again: its JSON, its keys at all levels, and its levels. An index holds every value. */
  metadataBytes: 16 * KIB,
  metadataKeys: 200,
  metadataDepth: 5,
  /** The config of an assistant. Every context of its runs has it. */
  configBytes: 16 * KIB,
  /** Actions of one outcome. Their JSON together has at most valueBytes. */
  actions: 32,
  /** Everything that a node may read. It is checked when the node is queued, and again before an executor gets it. */
  contextBytes: 2 * MIB,
  /**
   * JSON that the scheduler evaluates in one tick for the nodes that it completes itself: about 10 ms of its event loop. An executor
   * completes a node that reads more.
   */
  inlineBytes: 256 * KIB,
  /** Runs of a month that may stay for the month to be rewritten without the others. Counting them takes a second (measured). */
  monthRuns: 500_000,
  /** Every such node counts at least this much, so that one tick completes at most about two thousand. */
  inlineBytesMin: 128,
  /** JSON.parse accepts any depth but a later stringify does not, so the depth is checked at the entrance. */
  jsonDepth: 64,
  jsonKeys: 10_000,
  jsonKeyBytes: 256,
  labelLength: 200,
  requestIdLength: 255,
  /** The text that a person types to find a run. */
  searchLength: 200,
  /** A filter of a list, its parentheses inside each other, and its comparisons. Each comparison costs a test of every row. */
  filterLength: 2_000,
  filterDepth: 16,
  filterComparisons: 64,
  /** Matching workflows whose runs one search reads. It bounds the cost of a short text. */
  searchMatches: 200,
  /** How long the scheduler may remember an input as started, and the default. */
  inputKeyMsMax: 30 * DAY_MS,
  inputKeyMs: DAY_MS,
  javascriptBytes: 64 * KIB,
  expressionBytes: 4 * KIB,
  expressionDepth: 32,
  /** One contract. A schema of this size compiles in a few milliseconds, and a value is checked in bounded steps. */
  contractBytes: 32 * KIB,
  contractDepth: 32,
  /** Node types of one executor that have schemas. */
  descriptors: 64,
  /** Different patterns in all contracts of a definition. Compiling patterns is the costly part of reading contracts. */
  contractPatterns: 128,
  /** Steps to check one value against one contract, so that no schema blocks an executor. */
  contractSteps: 500_000,
  patternLength: 512,
  /** Instructions of a compiled pattern. A match costs at most this times the length of the text. */
  patternSize: 2_000,
  /** Instructions times characters of one match of a sanitize node: about a second of an executor. */
  patternSteps: 128_000_000,
  templateBytes: 64 * KIB,
  templateHoles: 1_000,
  templateOutputBytes: 7 * MIB,
  /** The tokens that a node reserves which asks a model and names no bound. */
  modelReserveTokens: 1_000,
  /** Raises of the budget of one run. The fold keeps their request ids. */
  budgetRaises: 1_000,
  /** Items of a map or a loop. */
  scopeWidth: 10_000,
  /** Iterations of one map that run at once. */
  scopeParallelism: 1_000,
  /** Iterations of a loop that names no bound. */
  loopIterations: 50,
  /** How often a run may repeat, and how often its author may let a node or a loop edge repeat. */
  iterationsMax: 10_000,
  /** How often a run repeats whose definition does not say. */
  runIterations: 50,
  /** Turns of an agent that names no bound, and the largest bound. Every turn asks its model once. */
  agentTurns: 10,
  agentTurnsMax: 100,
  /** Tools of one agent, and the calls that its model may ask for in one turn. */
  agentTools: 64,
  agentCalls: 64,
  /** The conversation of an agent. A request to a provider has at most a megabyte, with its frame. */
  conversationBytes: 768 * KIB,
  /** Decisions of a supervisor that its definition does not bound, and the newest ones that its model reads. */
  supervisorDecisions: 10,
  decisionsRead: 50,
  /** The reason of a decision. */
  decisionReasonLength: 500,
  /** Nested child runs. A workflow that starts itself ends here. */
  runDepth: 10,
  /** Attempts that a policy may ask for. */
  attemptsMax: 20,
  backoffMsMax: HOUR_MS,
  /** The longest Retry-After of a provider that Pawl respects. */
  retryAfterMsMax: HOUR_MS,
  nodeTimeoutMs: 5 * MINUTE_MS,
  nodeTimeoutMsMax: DAY_MS,
  /** How long after its timeout a claim may still report. It covers the messages and a busy machine. */
  timeoutGraceMs: 10_000,
  /** How long an attempt that ended its handler waits for the handler's last report of usage. */
  lateUsageMs: 100,
  /** The longest silence of a handler process that a scheduler shows. */
  shownSilenceMsMax: 30 * DAY_MS,
  /** The same for moderation, which the node's timeout does not include: three calls of a minute before the handler and after it. */
  moderationGraceMs: 6 * MINUTE_MS,
  runDeadlineMs: HOUR_MS,
  runDeadlineMsMax: 30 * DAY_MS,
  /** How long a run may be compensated, if its definition does not say. */
  compensationMs: HOUR_MS,
  /** Executions that an end event names, of those that could not be undone. */
  leftNamed: 100,
  /** Compensations that an answer about a run shows. */
  undosShown: 1_000,
  delayMsMax: 365 * DAY_MS,
  /** How long an approval may stay open. */
  approvalDeadlineMsMax: 365 * DAY_MS,
  approvalMessageLength: 4_000,
  /** The response to an approval. The output of its node is the response with the comment and the name of the person, and must fit too. */
  approvalResponseBytes: 240 * KIB,
  /** Free texts by which people find the approvals they should answer. */
  approvalAssignees: 32,
  /** Defaults of a definition that are checked against their schema when it is saved. Each check compiles a schema. */
  approvalDefaults: 50,
  /** How long an await_signal node may wait, if it has a limit. */
  signalTimeoutMsMax: 365 * DAY_MS,
  /** The payload of a signal. The output of its node is the payload with a small frame, and must fit too. */
  signalBytes: 256 * KIB - 512,
  /** Signals of one run that no node has taken yet, and the bytes of their payloads. The fold of the run holds them. */
  signalsKept: 1_000,
  signalsKeptBytes: MIB,
  /** Signals of one run in all. The fold remembers the request id of each, so that a repeat is found. */
  signals: 10_000,
  /** Lost leases that a node execution survives. After one more it is a dead letter. */
  deliveriesMax: 3,
  httpRequestBytes: MIB,
  httpResponseBytes: 2 * MIB,
  /** A streamed answer with its framing; valueBytes bounds the text in it. */
  llmStreamBytes: 32 * MIB,
  /** One event of such a stream. */
  llmEventBytes: MIB,
  httpTimeoutMs: 30_000,
  httpRedirects: 3,
  /** The output and the state in the body of a webhook. */
  webhookBytes: 512 * KIB,
  /** How long a receiver of webhooks may take to answer. Receivers answer first and work later. */
  webhookTimeoutMs: 15_000,
  /** Webhook calls of one executor at once. */
  webhookSlots: 16,
  webhookUrlLength: 2_000,
  webhookHeaders: 20,
  /** Deliveries of events of one run that do not end it. */
  webhookDeliveries: 1_000,
  /** Deliveries in the record of a run. */
  webhooksShown: 20,
  /** Webhooks of one definition. */
  webhooks: 10,
  /** Receivers of one instance. Every event that one of them gets is compared with all of them. */
  webhookEndpoints: 200,
  /** Workflows that one receiver names. */
  webhookWorkflows: 200,
  /** How long the secret before the present one may sign, and the default. */
  webhookOverlapMsMax: 7 * DAY_MS,
  webhookOverlapMs: DAY_MS,
  /** How long the log of deliveries keeps those that are over. */
  webhookKeptMs: 30 * DAY_MS,
  /** Rows of one query; valueBytes bounds their size. */
  queryRowsMax: 10_000,
  logMessageBytes: 16 * KIB,
  deltaBytes: 64 * KIB,
  /** A media type; registered types are far shorter. */
  mimeLength: 128,
  /** A recurrence rule. A calendar entry with a year of exceptions is shorter. */
  scheduleExpressionLength: 4 * KIB,
  /** Times of one preview, and the default. */
  previewTimesMax: 50,
  previewTimes: 5,
  /** Dead letters that one command handles. */
  deadLetters: 100,
  deadLettersMax: 1_000,
  redrivesPerSecond: 50,
  redrivesPerSecondMax: 1_000,
  /** A redrive answers after this time, finished or not. It is well below the deadline of a call. */
  redriveMs: 10_000,
  /** Runs of one bulk: all of them are stored when it starts, in about a second. */
  bulkRuns: 100_000,
  bulkPerSecond: 50,
  bulkPerSecondMax: 1_000,
  /** How often a bulk tries to act on a run whose action fails for a passing reason. */
  bulkAttempts: 5,
  /** How long ended bulks are listed. */
  bulkKeptMs: 30 * DAY_MS,
  /** Runs that a preview of a bulk names. */
  bulkPreviewRuns: 20,
  /** How long before its start a run may be accepted. */
  startDelayMsMax: 366 * DAY_MS,
  /** Runs of one thread that wait for it. A start that stops them moves all of them in one transaction. */
  threadWaiting: 100,
  pageSize: 50,
  pageSizeMax: 200,
  eventPageSize: 100,
  eventPageSizeMax: 1_000,
  priorityMax: 1_000,
  /** A concurrency or rate key after its template is filled. */
  keyBytes: 256,
  /** Slots of one concurrency key. A release counts the others. */
  slotsMax: 1_000,
  /** Starts within one window of a rate. All of them are stored. */
  rateMax: 1_000,
  ratePerMsMax: DAY_MS,
} as const;
