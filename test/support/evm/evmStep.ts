/** Where a run of the interpreter is, before its next opcode. */
import type {Evm} from "../../../workers/evm/evm.ts";

export interface EvmStep {
  readonly pc: number;
  readonly opcode: number;
  /** 0: the frame of the message. */
  readonly depth: number;
  readonly gasLeft: bigint;
  /** The lowest word first. */
  readonly stack: readonly bigint[];
  readonly memory: Uint8Array;
  readonly refund: bigint;
}

/** @param first - `currentFrame` where the message began. Frames lie one after the other */
export function readStep({instance, refund}: Evm, first: number): EvmStep {
  const {exports} = instance;
  const frame = exports.currentFrame();
  const field = (offset: {readonly value: number}) => instance.readU32(frame + offset.value);
  const ip = field(exports.IP);
  const base = field(exports.STACK_BASE);
  const memory = field(exports.MEMORY);
  const stack: bigint[] = [];
  for (let at = base; at < field(exports.SP); at += 32) stack.push(instance.readWord(at));
  return {
    pc: ip - field(exports.CODE),
    opcode: instance.bytes[ip] ?? 0,
    depth: (frame - first) / FRAME_BYTES,
    gasLeft: instance.readU64(frame + exports.GAS.value),
    stack,
    memory: instance.bytes.slice(memory, memory + field(exports.MEMORY_BYTES)),
    refund,
  };
}

/** Of wasm/frames.ts. */
const FRAME_BYTES = 192;
