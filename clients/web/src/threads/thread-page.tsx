// A thread as a conversation: its turns, the box for the next one, and what the thread remembers.

import { jsonTextOf, threadStatusName } from "@pawl/client";
import { type ReactNode, useState } from "react";
import { useAction } from "../api/action.ts";
import { PAGE_SIZE, reads, writes } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { threadPath, threadsPath } from "../route.ts";
import { useTitle } from "../ui/browser-hooks.ts";
import { FaultBox, PollState } from "../ui/fault-box.tsx";
import { prettyJson } from "../ui/json-text.ts";
import { Link, navigate } from "../ui/navigate.tsx";
import { CodeBlock } from "../ui/text-block.tsx";
import { Composer } from "./composer.tsx";
import { ThreadState } from "./thread-state.tsx";
import { Turn } from "./turn.tsx";

const EVERY_MS = 1_000;

interface Props {
  readonly threadId: string;
  readonly pageToken: string;
}

export function ThreadPage({ threadId, pageToken }: Props): ReactNode {
  useTitle(threadId);
  const polled = usePoll(`thread ${threadId} ${pageToken}`, EVERY_MS, async (signal) => {
    const [thread, page, state] = await Promise.all([
      reads.threads.get(threadId, { signal }),
      reads.runs.list({ threadId, pageSize: PAGE_SIZE, pageToken, signal }),
      reads.threads.state(threadId, { signal }),
    ]);
    return { thread, page, memory: jsonTextOf(state.memoryJson) ?? "" };
  });
  const { value } = polled;
  if (value === undefined) return <PollState polled={polled} what="the thread" />;
  const { thread, page, memory } = value;
  const turns = page.runs.toReversed();
  return (
    <section className="thread" aria-label="Thread" data-thread={threadId}>
      <header className="thread-head">
        <h1 className="mono">{threadId}</h1>
        <ThreadState status={thread.status} />
        {thread.forkedFrom !== "" && (
          <span className="muted">
            forked from <Link to={threadPath(thread.forkedFrom)}>{thread.forkedFrom}</Link>
          </span>
        )}
        <span className="spacer" />
        <ThreadActions threadId={threadId} />
      </header>
      <FaultBox fault={polled.fault} />
      {page.nextPageToken !== "" && (
        <p className="pager">
          <Link to={threadPath(threadId, page.nextPageToken)}>Earlier turns</Link>
        </p>
      )}
      <ol className="turns" aria-label="Turns">
        {turns.map((run) => (
          <Turn key={run.runId} run={run} />
        ))}
      </ol>
      {turns.length === 0 && <p className="muted">Nothing was said yet.</p>}
      {pageToken === "" ? (
        <Composer
          threadId={threadId}
          lastWorkflowId={turns.at(-1)?.workflowId ?? ""}
          isBusy={threadStatusName(thread.status) === "busy"}
        />
      ) : (
        <p className="pager">
          <Link to={threadPath(threadId)}>Newest turns</Link>
        </p>
      )}
      <details className="panel thread-memory">
        <summary>Memory</summary>
        <CodeBlock text={prettyJson(memory)} what="memory" empty="The thread remembers nothing." />
      </details>
    </section>
  );
}

/** Makes another thread from the present state, and deletes this one. */
function ThreadActions({ threadId }: { readonly threadId: string }): ReactNode {
  const { isBusy, fault, act } = useAction();
  const [isSure, setSure] = useState(false);
  const fork = (): Promise<void> =>
    act(async () => navigate(threadPath((await writes.threads.fork(threadId)).threadId)));
  const remove = (): Promise<void> =>
    act(async () => {
      await writes.threads.delete(threadId);
      navigate(threadsPath({}));
    });
  return (
    <>
      <button type="button" className="quiet" disabled={isBusy} onClick={() => void fork()}>
        Fork
      </button>
      <button
        type="button"
        className={isSure ? "danger" : "quiet"}
        disabled={isBusy}
        onBlur={() => setSure(false)}
        onClick={() => (isSure ? void remove() : setSure(true))}
      >
        {isSure ? "Delete it with its runs" : "Delete"}
      </button>
      <FaultBox fault={fault} />
    </>
  );
}
