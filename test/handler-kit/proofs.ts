// Rules of docs/reference/handler-protocol.md that no case of the kit can prove, and the tests that prove them: the host keeps H and L, and
// a process shows P17 and P18 only inside of itself.

export interface Proof {
  readonly file: string;
  /** The title of a test, or the name of its function. */
  readonly title: string;
}

const HOST = "services/executor/src/host";

export const PROOFS: Readonly<Record<string, readonly Proof[]>> = {
  Q7: [
    {
      file: `${HOST}/session.test.ts`,
      title: "the newest stream counts, and the host ends the older one",
    },
  ],
  P17: [
    {
      file: "clients/handler/src/serve/serve.test.ts",
      title: "a process shows its state: connecting, open, cut, open, draining, stopped",
    },
    {
      file: "clients/python/tests/test_server.py",
      title: "test_a_process_shows_connecting_open_cut_open_draining_stopped",
    },
    {
      file: "clients/go/internal/session/state_test.go",
      title: "TestAProcessShowsConnectingOpenCutOpenDrainingStopped",
    },
  ],
  P18: [
    {
      file: "clients/python/tests/test_server.py",
      title: "test_pings_are_answered_while_a_handler_blocks_the_loop",
    },
  ],
  P22: [
    {
      file: "clients/handler/src/serve/serve.test.ts",
      title:
        "of several hosts a process leaves one that does not answer, but waits for it while work is unfinished",
    },
    {
      file: "clients/python/tests/test_server.py",
      title:
        "test_of_several_hosts_a_process_leaves_one_that_does_not_answer_but_waits_while_work_is_unfinished",
    },
    {
      file: "clients/go/internal/session/process_test.go",
      title:
        "TestOfSeveralHostsAProcessLeavesOneThatDoesNotAnswerButWaitsForItWhileWorkIsUnfinished",
    },
  ],
  H1: [
    {
      file: `${HOST}/session.test.ts`,
      title:
        "a silent process is stalled, its claims are renewed with its silence, and it recovers",
    },
  ],
  H2: [
    {
      file: `${HOST}/session.test.ts`,
      title:
        "a longer cut is a lost delivery: the Work stream ends without Goodbye, and Resume gets Lost",
    },
    {
      file: `${HOST}/session.test.ts`,
      title:
        "a process that is cut off while the host stops resumes within the grace period, and nothing is lost",
    },
  ],
  H3: [
    {
      file: `${HOST}/cancel.test.ts`,
      title: "a late result is dropped and counted, and frees the slot",
    },
  ],
  H4: [
    {
      file: `${HOST}/invoke.test.ts`,
      title: "the node's output contract holds for the output of a process",
    },
    {
      file: `${HOST}/invoke.test.ts`,
      title: "moderation stops the stream of a process with BLOCKED, and the outcome is blocked",
    },
  ],
  H5: [
    {
      file: `${HOST}/cancel.test.ts`,
      title:
        "a timeout is reported while the function runs, and its slot stays taken until it has returned",
    },
  ],
  H6: [
    {
      file: `${HOST}/invoke.test.ts`,
      title:
        "a process that does not wait for Streamed loses its stream with the limit, and the host keeps its session",
    },
  ],
  H7: [
    {
      file: `${HOST}/session-state.test.ts`,
      title: "a host that was frozen itself gives the process its whole time again",
    },
  ],
  H8: [
    {
      file: "test/wire/node-types.test.ts",
      title: "a build that breaks callers is refused by name, and its other types serve",
    },
  ],
  L1: [
    {
      file: `${HOST}/opening.test.ts`,
      title: "a host with a token serves only processes that send it",
    },
  ],
  L2: [
    {
      file: "services/executor/src/config.test.ts",
      title: "a handler port that other machines reach needs a token",
    },
  ],
};
