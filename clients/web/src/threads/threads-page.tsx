// The threads in order of their ids, and a form that begins one.

import { jsonTextOf, threadStatusName } from "@pawl/client";
import type { Thread } from "@pawl/proto/pawl/v1/thread_pb";
import { type ReactNode, useState } from "react";
import { useAction } from "../api/action.ts";
import { PAGE_SIZE, reads, writes } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { threadPath, threadsPath } from "../route.ts";
import { submitting, useTitle } from "../ui/browser-hooks.ts";
import { FaultBox, PollState } from "../ui/fault-box.tsx";
import { Link, navigate } from "../ui/navigate.tsx";
import { Cell, TableHead } from "../ui/text-block.tsx";
import { formatTime, wireMs } from "../ui/time.ts";
import { ThreadState } from "./thread-state.tsx";

const EVERY_MS = 5_000;

export function ThreadsPage({ pageToken }: { readonly pageToken: string }): ReactNode {
  useTitle("Threads");
  const polled = usePoll(`threads ${pageToken}`, EVERY_MS, (signal) =>
    reads.threads.list({ pageSize: PAGE_SIZE, pageToken, signal }),
  );
  const { value } = polled;
  const next = value?.nextPageToken ?? "";
  return (
    <section className="list" aria-label="Threads">
      <h1>Threads</h1>
      <p className="muted">
        A thread is a line of runs that share a memory, such as a conversation.
      </p>
      <NewThread />
      <PollState polled={polled} what="the threads" />
      {value?.threads.length === 0 && <p className="muted">There is no thread yet.</p>}
      {value !== undefined && value.threads.length > 0 && (
        <table className="list-table">
          <TableHead
            names={["Thread", "State", "Runs", "Changed", "Metadata"]}
            numbers={["Runs"]}
          />
          <tbody>
            {value.threads.map((each) => (
              <ThreadRow key={each.threadId} thread={each} />
            ))}
          </tbody>
        </table>
      )}
      {next !== "" && (
        <p className="pager">
          <Link to={threadsPath({ pageToken: next })}>More threads</Link>
        </p>
      )}
    </section>
  );
}

function ThreadRow({ thread }: { readonly thread: Thread }): ReactNode {
  const { threadId, status, runCount, updateTime, metadataJson } = thread;
  const metadata = jsonTextOf(metadataJson) ?? "{}";
  const changedMs = wireMs(updateTime);
  return (
    <tr data-thread={threadId} data-state={threadStatusName(status)}>
      <Cell name="thread">
        <Link to={threadPath(threadId)} className="mono">
          {threadId}
        </Link>
      </Cell>
      <Cell name="state">
        <ThreadState status={status} />
      </Cell>
      <Cell name="runs" isNumber>
        {String(runCount)}
      </Cell>
      <Cell name="changed">{changedMs === undefined ? "" : formatTime(changedMs)}</Cell>
      <Cell name="metadata">{metadata !== "{}" && <code>{metadata}</code>}</Cell>
    </tr>
  );
}

function NewThread(): ReactNode {
  const [threadId, setThreadId] = useState("");
  const { isBusy, fault, act } = useAction();
  const create = (): Promise<void> =>
    act(async () => {
      const thread = await writes.threads.create(threadId.trim());
      navigate(threadPath(thread.threadId));
    });
  return (
    <form className="thread-new" onSubmit={submitting(() => void create())}>
      <input
        aria-label="Id of the new thread"
        placeholder="Id (optional)"
        value={threadId}
        onChange={({ target }) => setThreadId(target.value)}
      />
      <button type="submit" className="primary" disabled={isBusy}>
        {isBusy ? "Creating…" : "New thread"}
      </button>
      <FaultBox fault={fault} />
    </form>
  );
}
