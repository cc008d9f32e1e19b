// The naive model of a run that repeats: it takes the player's reports one by one and works out the whole state again from plain lists,
// with no counters, no work lists and no log. Slow and plain on purpose; the fold and the planner must agree with it after every report.

import {
  jumpOf,
  type Program,
  type ProgramEdge,
  type ProgramNode,
  type Report,
} from "./loop-program.ts";

interface ModelNode {
  readonly node: ProgramNode;
  status: "pending" | "open" | "completed" | "failed" | "skipped";
  handle: string | undefined;
  isAfterFailure: boolean;
  /** The order of failures. */
  failedAt: number;
  round: number;
  base: number;
  /** The state of each item of a map that has its items. */
  items: ("new" | "open" | "ok" | "failed")[] | undefined;
  entry: { readonly from: string; readonly output: string } | undefined;
  /** How often each loop edge led here since the node was last reached another way. */
  repeats: Map<ProgramEdge, number>;
}

type Verdict = "wait" | "run" | "untaken" | "after failure" | "broken";

interface Jump {
  readonly from: string;
  readonly to: string;
  readonly output: string;
  readonly edge: ProgramEdge | undefined;
}

const isSettled = ({ status }: ModelNode): boolean => status !== "pending" && status !== "open";

/** How many branches a join needs to fire before its other parents are settled. */
const neededBy = ({ join }: ProgramNode): number =>
  join === "all" ? Infinity : join === "any" ? 1 : join.n_of_m;

export class LoopOracle {
  readonly nodes: ReadonlyMap<string, ModelNode>;
  iterationCount = 0;
  end: string | undefined;
  readonly #program: Program;
  readonly #plain: readonly ProgramEdge[];
  #jumps: Jump[] = [];
  #failures = 0;

  constructor(program: Program) {
    this.#program = program;
    this.#plain = program.definition.edges.filter(({ loop }) => loop !== true);
    const { nodes } = program.definition;
    this.nodes = new Map(nodes.map((node) => [node.id, { ...NEW, node, repeats: new Map() }]));
  }

  /** Takes reports that were planned together. */
  take(reports: readonly Report[]): void {
    for (const report of reports) this.#report(report);
    while (this.end === undefined && this.#step());
  }

  #node(id: string): ModelNode {
    const node = this.nodes.get(id);
    if (node === undefined) throw new Error(`no node ${id}`);
    return node;
  }

  #report({ id, item, step, output }: Report): void {
    const model = this.#node(id);
    if (item > 0 && model.items !== undefined) {
      model.items[item - 1] = step === "fail" ? "failed" : "ok";
      return;
    }
    const target = jumpOf(step);
    const isMissing = target !== undefined && !this.nodes.has(target);
    if (step === "fail" || (isMissing && model.node.type === "task")) return this.#fail(model);
    if (model.node.type === "map") {
      model.items = Array.from({ length: this.#program.widths[id] ?? 0 }, () => "new" as const);
      return;
    }
    model.status = "completed";
    model.handle = target === undefined ? (step === "ok" ? undefined : step) : "(jumped)";
    const loops = this.#program.definition.edges.filter(({ loop }) => loop === true);
    const edge = loops.find(({ source, source_handle: h }) => source === id && h === model.handle);
    const to = target ?? edge?.target;
    if (to === undefined) return;
    this.#jumps.push({ from: id, to, output, edge });
    this.iterationCount++;
  }

  #fail(model: ModelNode): void {
    const leavesByError = this.#program.definition.edges.some(
      ({ source, source_handle: h }) => source === model.node.id && h === "error",
    );
    model.items = undefined;
    const handling = model.node.error_handling ?? (leavesByError ? "continue" : "fail_node");
    if (handling === "continue") Object.assign(model, { status: "completed", handle: "error" });
    else Object.assign(model, { status: "failed", failedAt: ++this.#failures });
  }

  /** Makes one more thing follow; false if nothing does. */
  #step(): boolean {
    const { max_iterations: max } = this.#program.definition;
    if (this.iterationCount > max) return this.#finish("failed: max_iterations");
    if (this.#jumps.length > 0) return this.#jump();
    const all = [...this.nodes.values()];
    const judged = all
      .filter(({ status }) => status === "pending")
      .map((model) => ({ model, verdict: this.#judge(model) }))
      .filter(({ verdict }) => verdict !== "wait");
    for (const { model, verdict } of judged) this.#decide(model, verdict);
    if (judged.length > 0) return true;
    if (all.some((model) => model.status === "open" && this.#moveItems(model))) return true;
    return all.every(isSettled) ? this.#finish(this.#verdict()) : false;
  }

  #finish(end: string): false {
    this.end = end;
    return false;
  }

  #jump(): boolean {
    const [jump] = this.#jumps;
    if (jump === undefined) return false;
    const target = this.#node(jump.to);
    const { edge } = jump;
    const repeats = new Map(target.repeats);
    if (target.status !== "pending") {
      const taken = edge === undefined ? 0 : (repeats.get(edge) ?? 0);
      const superseded = this.#superseded(target, new Set([target]));
      const isOver = [...superseded].some(
        ({ round, node }) => round + 2 > (node.max_iterations ?? Infinity),
      );
      if (taken >= (edge?.max_iterations ?? Infinity) || isOver)
        return this.#finish("failed: max_iterations");
      for (const model of superseded) {
        const { node, round, base } = model;
        const width = model.items?.length ?? 0;
        const next = { round: round + 1, base: base + 1 + width, repeats: new Map() };
        Object.assign(model, { ...NEW, node, ...next });
      }
      const voided = new Set([...superseded].map(({ node }) => node.id));
      this.#jumps = this.#jumps.filter((each) => each === jump || !voided.has(each.from));
    } else target.status = "open";
    this.#jumps = this.#jumps.filter((each) => each !== jump);
    target.entry = { from: jump.from, output: jump.output };
    if (edge !== undefined) target.repeats = repeats.set(edge, (repeats.get(edge) ?? 0) + 1);
    return true;
  }

  /** Everything that was decided on `model`. */
  #superseded(model: ModelNode, found: Set<ModelNode>): Set<ModelNode> {
    if (!isSettled(model)) return found;
    for (const edge of this.#plain) {
      const child = this.#node(edge.target);
      if (edge.source !== model.node.id || child.status === "pending" || found.has(child)) continue;
      // A join that has enough branches without this edge does not depend on it.
      if (!this.#isTaken(edge) && this.#takenInto(child.node) >= neededBy(child.node)) continue;
      this.#superseded(child, found.add(child));
    }
    return found;
  }

  #isTaken({ source, source_handle: wanted }: ProgramEdge): boolean {
    const { status, handle } = this.#node(source);
    if (status !== "completed" || handle === "(jumped)") return false;
    return wanted === undefined ? handle !== "error" : wanted === handle;
  }

  #takenInto({ id }: ProgramNode): number {
    return this.#plain.filter((edge) => edge.target === id && this.#isTaken(edge)).length;
  }

  #judge({ node, entry }: ModelNode): Verdict {
    const edges = this.#plain.filter(({ target }) => target === node.id);
    if (entry !== undefined || edges.length === 0) return "run";
    const parents = edges.map(({ source }) => this.#node(source));
    const taken = this.#takenInto(node);
    if (taken >= neededBy(node)) return "run";
    if (!parents.every(isSettled)) return "wait";
    if (parents.some(({ status }) => status === "failed")) return "broken";
    if (node.join === "all" && taken > 0) return "run";
    return parents.some(({ isAfterFailure }) => isAfterFailure) ? "after failure" : "untaken";
  }

  #decide(model: ModelNode, verdict: Verdict): void {
    const policy = model.node.on_parent_failure;
    const isFailure = verdict === "broken" || verdict === "after failure";
    if (verdict === "run" || (isFailure && policy === "substitute_default")) model.status = "open";
    else if (verdict === "broken" && policy === "propagate")
      Object.assign(model, { status: "failed", failedAt: ++this.#failures });
    else Object.assign(model, { status: "skipped", isAfterFailure: isFailure });
  }

  #moveItems(model: ModelNode): boolean {
    const { items, node } = model;
    if (items === undefined || node.config === undefined) return false;
    if (items.includes("failed") && node.config.on_item_failure === "fail") {
      const width = items.length;
      this.#fail(model);
      // The width still counts for the iterations of the next round.
      model.items = Array.from({ length: width }, () => "ok" as const);
      return true;
    }
    const open = items.filter((item) => item === "open").length;
    const next = items.indexOf("new");
    if (next !== -1 && open < node.config.parallelism) {
      items[next] = "open";
      return true;
    }
    if (next !== -1 || open > 0) return false;
    Object.assign(model, { status: "completed", handle: items.length > 0 ? "loop" : "done" });
    return true;
  }

  #verdict(): string {
    const sources = new Set(this.#plain.map(({ source }) => source));
    const all = [...this.nodes.values()];
    const isBad = all.some(({ node, status }) => status === "failed" && !sources.has(node.id));
    if (!isBad) return "completed";
    const failed = all.filter(({ status }) => status === "failed");
    const [first] = failed.toSorted((a, b) => a.failedAt - b.failedAt);
    return `failed: ${first?.node.id ?? ""}`;
  }
}

const NEW = {
  status: "pending",
  handle: undefined,
  isAfterFailure: false,
  failedAt: 0,
  round: 0,
  base: 0,
  items: undefined,
  entry: undefined,
} as const;
