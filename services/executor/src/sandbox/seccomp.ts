// A seccomp filter for the sandbox child, as a program for the kernel. It is a list of refused calls: V8 and libuv use too many calls
// for a list of allowed ones to survive Node's releases. Code that breaks out of its isolate can still compute, read public files and
// write to its pipes. It cannot open a socket, write a file, start, signal or trace a process, or load code into the kernel.
//
// The filter knows x64. Other machines number their calls differently; there the child runs without the filter, and the log shows it.

const LOAD = 0x20;
const JUMP = 0x05;
const JUMP_EQUAL = 0x15;
const JUMP_ABOVE = 0x25;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;

/** Offsets in `struct seccomp_data`; for a 64-bit argument, of its lower half. */
const NUMBER_AT = 0;
const MACHINE_AT = 4;
const argumentAt = (index: number): number => 16 + 8 * index;

const X64 = 0xc000003e;
/** Calls of the x32 ABI have this bit set. No program here uses it. */
const X32_FROM = 0x40000000;

const CLONE_THREAD = 0x10000;
/** O_WRONLY, O_RDWR, O_CREAT or O_TRUNC. */
const WRITING = 0x1 | 0x2 | 0x40 | 0x200;

const CLONE = 56;
const OPEN = 2;
const OPENAT = 257;
/** Their flags are behind a pointer, which a filter cannot read. Both have an older form, which libraries use if these are refused. */
const HIDDEN = { openat2: 437, clone3: 435 };

const REFUSED: Readonly<Record<string, number>> = {
  ...{ socket: 41, connect: 42, accept: 43, bind: 49, listen: 50, socketpair: 53, accept4: 288 },
  ...{ fork: 57, vfork: 58, kill: 62, tkill: 200, rt_sigqueueinfo: 129, rt_tgsigqueueinfo: 297 },
  ...{ ptrace: 101, process_vm_readv: 310, process_vm_writev: 311, kcmp: 312, execveat: 322 },
  ...{ pidfd_send_signal: 424, pidfd_open: 434, pidfd_getfd: 438 },
  ...{ truncate: 76, rename: 82, mkdir: 83, rmdir: 84, creat: 85, link: 86, unlink: 87 },
  ...{ symlink: 88, chmod: 90, chown: 92, lchown: 94, mknod: 133, mkdirat: 258, mknodat: 259 },
  ...{ fchownat: 260, unlinkat: 263, renameat: 264, linkat: 265, symlinkat: 266, fchmodat: 268 },
  ...{ utimensat: 280, renameat2: 316, memfd_create: 319, fchmodat2: 452 },
  ...{ personality: 135, pivot_root: 155, chroot: 161, mount: 165, umount2: 166, unshare: 272 },
  ...{ setns: 308, open_tree: 428, move_mount: 429, fsopen: 430, fsconfig: 431, fsmount: 432 },
  ...{ fspick: 433, name_to_handle_at: 303, open_by_handle_at: 304, fanotify_init: 300 },
  ...{ add_key: 248, request_key: 249, keyctl: 250, perf_event_open: 298, bpf: 321 },
  ...{ userfaultfd: 323, io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427 },
  ...{ init_module: 175, delete_module: 176, finit_module: 313, kexec_load: 246 },
  ...{ kexec_file_load: 320, acct: 163, settimeofday: 164, swapon: 167, swapoff: 168, reboot: 169 },
};

type Target = "allow" | "refuse" | "missing";
type Step =
  | { readonly load: number }
  | { readonly jump: number; readonly operand: number; readonly to: Target };

/** The program for this machine, or undefined if its calls are unknown here. */
export function seccompProgram(machine: string = process.arch): Buffer | undefined {
  if (machine !== "x64") return undefined;
  const onFlags = (index: number, mask: number, to: Target): Step[] => [
    { load: argumentAt(index) },
    { jump: JUMP_ANY_BIT, operand: mask, to },
  ];
  const steps: Step[] = [
    { load: NUMBER_AT },
    { jump: JUMP_ABOVE, operand: X32_FROM - 1, to: "refuse" },
    ...Object.values(REFUSED).map((operand) => ({ ...isCall(operand), to: "refuse" as const })),
    ...Object.values(HIDDEN).map((operand) => ({ ...isCall(operand), to: "missing" as const })),
  ];
  const program = [
    instruction(LOAD, MACHINE_AT),
    instruction(JUMP_EQUAL, X64, 1, 0),
    instruction(RETURN, KILL),
    ...assembled(steps),
    // The call that starts a process also starts a thread, and the call that opens a file for writing also opens it for reading.
    ...guarded(CLONE, onFlags(0, CLONE_THREAD, "allow"), EPERM),
    ...guarded(OPEN, onFlags(1, WRITING, "refuse"), ALLOW),
    ...guarded(OPENAT, onFlags(2, WRITING, "refuse"), ALLOW),
    instruction(RETURN, ALLOW),
  ];
  return Buffer.concat(program);
}

const isCall = (operand: number) => ({ jump: JUMP_EQUAL, operand });

/** Steps, followed by the returns they jump to. A step that does not jump continues after all of them. */
function assembled(steps: readonly Step[]): Buffer[] {
  const ends: Record<Target, number> = { refuse: 1, missing: 2, allow: 3 };
  const lines = steps.map((step, index) =>
    "load" in step
      ? instruction(LOAD, step.load)
      : instruction(step.jump, step.operand, steps.length - index - 1 + ends[step.to], 0),
  );
  const returns = [EPERM, ENOSYS, ALLOW].map((verdict) => instruction(RETURN, verdict));
  return [...lines, instruction(JUMP, returns.length), ...returns];
}

/** The steps for one call. A call that matches ends with `verdict`, and every other call skips them. */
function guarded(call: number, steps: readonly Step[], verdict: number): Buffer[] {
  const lines = [...assembled(steps), instruction(RETURN, verdict)];
  return [instruction(JUMP_EQUAL, call, 0, lines.length), ...lines];
}

/** `struct sock_filter`. */
function instruction(code: number, operand: number, ifTrue = 0, ifFalse = 0): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(operand, 4);
  return bytes;
}

/**
 * Sets a filter on its own process and then becomes the command, which keeps the filter. It is perl because Debian and similar systems
 * always have it, and Node has no call for this. Arguments: the filter as hex, then the command.
 */
export const SECCOMP_LOADER = `
my $filter = pack("H*", shift @ARGV);
my $program = pack("S x![P] P", length($filter) / 8, $filter);
syscall(157, 38, 1, 0, 0, 0) == 0 or die "no_new_privs: $!";
syscall(157, 22, 2, $program, 0, 0) == 0 or die "seccomp: $!";
exec { $ARGV[0] } @ARGV or die "exec: $!";
`;
