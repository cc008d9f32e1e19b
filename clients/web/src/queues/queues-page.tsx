// The load of the system: what schedulers sampled last, the queues, the connections, and plots of the past.

import type { GetQueueStatsResponse, QueueStats } from "@pawl/proto/pawl/v1/queue_service_pb";
import { durationMs as msOf } from "@bufbuild/protobuf/wkt";
import type { ReactNode } from "react";
import { reads } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { queuesPath } from "../route.ts";
import { useTitle } from "../ui/browser-hooks.ts";
import { PollState } from "../ui/fault-box.tsx";
import { Link } from "../ui/navigate.tsx";
import { Cell, Fact, TableHead } from "../ui/text-block.tsx";
import { formatDuration, formatTime, wireMs } from "../ui/time.ts";
import { PlotCard } from "./plot-card.tsx";

const EVERY_MS = 10_000;
const HOUR_MS = 3_600_000;
/** The ranges of the plots, and the points of each. */
const RANGES = [
  { name: "1h", label: "1 hour", rangeMs: HOUR_MS },
  { name: "6h", label: "6 hours", rangeMs: 6 * HOUR_MS },
  { name: "1d", label: "1 day", rangeMs: 24 * HOUR_MS },
  { name: "7d", label: "7 days", rangeMs: 7 * 24 * HOUR_MS },
] as const;
const POINTS = 60;

interface Props {
  readonly nodeType: string;
  readonly range: string;
}

export function QueuesPage({ nodeType, range }: Props): ReactNode {
  useTitle("Queues");
  const chosen = RANGES.find(({ name }) => name === range) ?? RANGES[0];
  const { rangeMs } = chosen;
  const polled = usePoll(`stats ${nodeType} ${chosen.name}`, EVERY_MS, async (signal) => {
    const stepMs = rangeMs / POINTS;
    const stats = await reads.queues.stats({ nodeType, rangeMs, stepMs, signal });
    return { stats, endMs: Date.now() };
  });
  const { value } = polled;
  return (
    <section className="list" aria-label="Queues">
      <h1>Queues</h1>
      <PollState polled={polled} what="the samples" />
      {value !== undefined && value.stats.total === undefined && (
        <p className="muted">No scheduler has taken a sample yet.</p>
      )}
      {value?.stats.total !== undefined && (
        <>
          <Present total={value.stats.total} />
          <div className="filters plot-filters">
            <div className="chips" role="group" aria-label="Range">
              {RANGES.map(({ name, label }) => (
                <Link
                  key={name}
                  to={queuesPath({ nodeType, range: name })}
                  className="chip"
                  current={name === chosen.name}
                >
                  {label}
                </Link>
              ))}
              {nodeType !== "" && (
                <Link to={queuesPath({ range })} className="chip chip-off" current>
                  {nodeType} <span aria-hidden="true">✕</span>
                  <span className="hidden">: show all types together</span>
                </Link>
              )}
            </div>
          </div>
          <Plots {...value} {...{ rangeMs, nodeType }} />
          <QueueTable queues={value.stats.queues} range={range} />
          <PoolTable pools={value.stats.pools} />
        </>
      )}
    </section>
  );
}

const agesText = (oldest: bigint | undefined, median: bigint | undefined): string =>
  oldest === undefined || median === undefined
    ? ""
    : `, oldest ${ageOf(oldest)}, median ${ageOf(median)}`;

const ageOf = (ms: bigint | undefined): string =>
  ms === undefined ? "none" : formatDuration(Number(ms));

function Present({ total }: { readonly total: QueueStats }): ReactNode {
  const { active, available, slots, waiting, runsPending, runsRunning } = total;
  const pending = agesText(total.pendingOldestMs, total.pendingMedianMs);
  const sampledMs = wireMs(total.time);
  return (
    <dl className="panel facts" aria-label="Newest sample">
      <Fact name="Slots">
        {active} active, {available} available, {slots} at most
      </Fact>
      <Fact name="Nodes">
        {waiting} waiting{agesText(total.oldestMs, total.medianMs)}
      </Fact>
      <Fact name="Runs">
        {runsRunning} running, {runsPending} pending{pending}
      </Fact>
      <Fact name="Connections">
        {total.connectionsInUse} in use, {total.connections} at most
      </Fact>
      {sampledMs !== undefined && <Fact name="Sampled">{formatTime(sampledMs)}</Fact>}
    </dl>
  );
}

interface PlotsProps extends Pick<Props, "nodeType"> {
  readonly stats: GetQueueStatsResponse;
  readonly endMs: number;
  readonly rangeMs: number;
}

const countText = (value: number): string => String(value);

function Plots({ stats, endMs, rangeMs, nodeType }: PlotsProps): ReactNode {
  const stepMs = stats.step === undefined ? rangeMs / POINTS : msOf(stats.step);
  const plot = (
    name: string,
    valueOf: (point: QueueStats) => number | bigint | undefined,
    textOf = countText,
  ): ReactNode => {
    const points = stats.points.map((point) => ({
      atMs: wireMs(point.time) ?? 0,
      value: Number(valueOf(point) ?? 0),
    }));
    return <PlotCard key={name} {...{ name, points, textOf, stepMs, rangeMs, endMs }} />;
  };
  return (
    <div className="plots">
      {plot("Nodes waiting", (point) => point.waiting)}
      {plot("Oldest wait", (point) => point.oldestMs, formatDuration)}
      {plot("Median wait", (point) => point.medianMs, formatDuration)}
      {plot("Nodes active", (point) => point.active)}
      {nodeType === "" && [
        plot("Runs running", (point) => point.runsRunning),
        plot("Runs pending", (point) => point.runsPending),
        plot("Oldest pending", (point) => point.pendingOldestMs, formatDuration),
        plot("Connections in use", (point) => point.connectionsInUse),
      ]}
    </div>
  );
}

function QueueTable({
  queues,
  range,
}: {
  readonly queues: readonly QueueStats[];
  readonly range: string;
}): ReactNode {
  const numbers = ["Waiting", "Oldest", "Median", "Active", "Slots"];
  return (
    <section className="panel" aria-label="Node types">
      <h2>Node types</h2>
      {queues.length === 0 ? (
        <p className="muted">No node waits or runs.</p>
      ) : (
        <table className="list-table">
          <TableHead names={["Type", ...numbers]} numbers={numbers} />
          <tbody>
            {queues.map((queue) => (
              <tr key={queue.nodeType} data-queue={queue.nodeType}>
                <Cell name="type">
                  <Link to={queuesPath({ nodeType: queue.nodeType, range })} className="mono">
                    {queue.nodeType}
                  </Link>
                </Cell>
                <Cell name="waiting" isNumber>
                  {queue.waiting}
                </Cell>
                <Cell name="oldest" isNumber>
                  {ageOf(queue.oldestMs)}
                </Cell>
                <Cell name="median" isNumber>
                  {ageOf(queue.medianMs)}
                </Cell>
                <Cell name="active" isNumber>
                  {queue.active}
                </Cell>
                <Cell name="slots" isNumber>
                  {queue.slots}
                </Cell>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function PoolTable({ pools }: Pick<GetQueueStatsResponse, "pools">): ReactNode {
  const numbers = ["In use", "Idle", "Max"];
  if (pools.length === 0) return null;
  return (
    <section className="panel" aria-label="Connections and streams">
      <h2>Connections and streams</h2>
      <table className="list-table">
        <TableHead names={["Process", "Kind", "Pool", ...numbers]} numbers={numbers} />
        <tbody>
          {pools.map(({ processId, service, kind, pool, inUse, idle, size }) => (
            <tr key={`${processId} ${pool}`} data-pool={`${service} ${pool}`}>
              <Cell name="process">
                {service} <code>{processId.slice(-8)}</code>
              </Cell>
              <Cell name="kind">{kind}</Cell>
              <Cell name="pool">{pool}</Cell>
              <Cell name="in use" isNumber>
                {inUse}
              </Cell>
              <Cell name="idle" isNumber>
                {idle}
              </Cell>
              <Cell name="max" isNumber>
                {size}
              </Cell>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
