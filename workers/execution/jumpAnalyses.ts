/**
 * Where code may jump to, and which values it pushes: analysed once, kept from frame to frame and from call to call.
 *
 * @ethereumjs' interpreter analyses the code again in every frame: 0.1 ms for a token, 1 ms for 24 KB of code. It never
 * checks an estimate's deadline: 2.4 MB of pushes took 0.15 s of an idle core and 300 MB. The library has no hook for another
 * analysis and does not export its Interpreter. So this module runs one opcode of its own to get hold of the Interpreter, and
 * wraps its method, once per thread.
 */
import {createEVM, type EVM} from "@ethereumjs/evm";
import {bytesToBigInt} from "@ethereumjs/util";
import {requireParts} from "./libraryParts.ts";

/** Checked while code is analysed. An estimate's throws once its time is over; a block has none. */
export interface Deadline {
  check(): void;
}

/** What the library's interpreter reads, by position in the code. */
interface Analysis {
  /** 1: a JUMPDEST that is not part of a push. */
  readonly jumps: Uint8Array;
  /** Pushed values, by the position after the PUSH. */
  readonly pushes: readonly bigint[];
  readonly opcodesCached: readonly unknown[];
}

interface Analyser {
  readonly _evm: EVM;
  lookupOpInfo(opcode: number): unknown;
  _getValidJumpDestinations(code: Uint8Array): Analysis;
}

const JUMPDEST = 0x5b;
const PUSH1 = 0x60;
const PUSH32 = 0x7f;
/** Numbers of up to this many bytes are exact without bigint. */
const SAFE_BYTES = 6;
/** Bytes of code between two checks of the deadline; they take about 0.2 ms. */
const BYTES_PER_CHECK = 1 << 14;
/** Bytes of code whose analyses are kept. An analysis takes about 20 times as many bytes. */
const MAX_ANALYSED_BYTES = 1 << 20;
/** Overhead of one entry, counted in bytes of code. */
const ENTRY_BYTES = 32;

/** Analyses by the code's array object: the cache of codes (heldState.ts in workers/estimate, baseState.ts) returns the same object every time. */
export class JumpAnalyses {
  private readonly analyses = new Map<Uint8Array, Analysis>();
  private analysedBytes = 0;

  constructor(private readonly deadline: Deadline) {}

  get count(): number {
    return this.analyses.size;
  }

  of(code: Uint8Array, lookUp: (opcode: number) => unknown): Analysis {
    // Initcode is a view of its creator's memory. The view is new each time, and would keep all of that memory alive.
    if (code.byteLength !== code.buffer.byteLength) return analyse(code, lookUp, this.deadline);
    const kept = this.analyses.get(code);
    if (kept !== undefined) return kept;
    const analysis = analyse(code, lookUp, this.deadline);
    const bytes = code.length + ENTRY_BYTES;
    if (this.analysedBytes + bytes > MAX_ANALYSED_BYTES) {
      this.analyses.clear();
      this.analysedBytes = 0;
    }
    this.analyses.set(code, analysis);
    this.analysedBytes += bytes;
    return analysis;
  }
}

function analyse(code: Uint8Array, lookUp: (opcode: number) => unknown, deadline: Deadline): Analysis {
  const {length} = code;
  const jumps = new Uint8Array(length);
  const pushes = new Array<bigint>(length);
  const opcodesCached = new Array<unknown>(length);
  let nextCheck = BYTES_PER_CHECK;
  for (let at = 0; at < length; at++) {
    if (at >= nextCheck) {
      deadline.check();
      nextCheck = at + BYTES_PER_CHECK;
    }
    const opcode = code[at] as number;
    opcodesCached[at] = lookUp(opcode);
    if (opcode === JUMPDEST) jumps[at] = 1;
    else if (opcode >= PUSH1 && opcode <= PUSH32) {
      const bytes = opcode - PUSH1 + 1;
      pushes[at + 1] = readPush(code, at + 1, bytes);
      at += bytes;
    }
  }
  return {jumps, pushes, opcodesCached};
}

/** Reads a pushed value. Zeros follow the end of the code. */
function readPush(code: Uint8Array, at: number, bytes: number): bigint {
  if (bytes <= SAFE_BYTES) {
    let value = 0;
    for (let byte = 0; byte < bytes; byte++) value = value * 256 + (code[at + byte] ?? 0);
    return BigInt(value);
  }
  const there = code.subarray(at, at + bytes);
  return there.length === 0 ? 0n : bytesToBigInt(there) << BigInt(8 * (bytes - there.length));
}

const keepers = new WeakMap<EVM, JumpAnalyses>();

/** From now on, interpreters of `evm` keep their analyses, and check the deadline while they make them. */
export function keepJumpAnalyses(evm: EVM, deadline: Deadline): void {
  keepers.set(evm, new JumpAnalyses(deadline));
}

/** @throws Error if the library calls its analysis by another name */
export function wrapInterpreter(prototype: Analyser): void {
  requireParts(prototype, "the interpreter", {
    _getValidJumpDestinations: "function",
    lookupOpInfo: "function",
  });
  const analyseOnce = prototype._getValidJumpDestinations;
  prototype._getValidJumpDestinations = function (this: Analyser, code) {
    const kept = keepers.get(this._evm);
    if (kept === undefined) return analyseOnce.call(this, code);
    return kept.of(code, opcode => this.lookupOpInfo(opcode));
  };
}

/** Jumps to the end of the code. */
const JUMP_CODE = Uint8Array.of(PUSH1, 3, 0x56, JUMPDEST);

/** @throws Error if `evm` runs a jump without an analysis of this module, although the method of the right name was wrapped */
export async function requireUse(evm: EVM): Promise<void> {
  const analyses = new JumpAnalyses({check: () => {}});
  keepers.set(evm, analyses);
  await evm.runCode({code: JUMP_CODE, gasLimit: 100n});
  keepers.delete(evm);
  if (analyses.count === 0)
    throw new Error(
      "the EVM library was changed: expected a jump to ask for _getValidJumpDestinations, got no call of it",
    );
}

const MEET = 0x0c;
const meeting = await createEVM({
  customOpcodes: [
    {
      opcode: MEET,
      opcodeName: "MEET",
      baseFee: 0,
      logicFunction: ({interpreter}) => wrapInterpreter(Object.getPrototypeOf(interpreter)),
    },
  ],
});
await meeting.runCode({code: Uint8Array.of(MEET)});
await requireUse(meeting);
