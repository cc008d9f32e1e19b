// The built-in handlers. A new handler is one file beside this one and one line here.

import type { Egress } from "../egress/fetch.ts";
import type { Providers } from "../llm/providers.ts";
import type { DataSources } from "../sources/data-sources.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { approvalHandler } from "./approval.ts";
import { dataQueryHandler } from "./data-query.ts";
import { glueHandlers } from "./glue.ts";
import { httpHandler } from "./http.ts";
import { agentHandler } from "./agent.ts";
import { llmHandler } from "./llm.ts";
import { javascriptHandler } from "./javascript.ts";
import { type Registry, registryOf } from "./registry.ts";
import { subworkflowHandler } from "./subworkflow.ts";
import { supervisorHandler } from "./supervisor.ts";
import { textStreamHandler } from "./text-stream.ts";

/** The built-in handlers of this executor. */
export const builtInRegistry = (outside: {
  readonly sandbox: Pick<Sandbox, "run">;
  readonly egress: Egress;
  readonly providers: Providers;
  readonly sources: DataSources;
}): Registry =>
  registryOf([
    ...glueHandlers,
    javascriptHandler(outside.sandbox),
    httpHandler(outside.egress),
    llmHandler(outside.providers),
    agentHandler(outside.providers),
    supervisorHandler(outside.providers),
    dataQueryHandler(outside.sources),
    subworkflowHandler,
    approvalHandler,
    textStreamHandler,
  ]);
