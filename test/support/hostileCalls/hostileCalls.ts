/**
 * Calls that keep a worker busy on purpose, each with as much work as 50 million gas buys. Some of them end by themselves.
 *
 * The code comes as an override. Some of it is longer than the front takes (24 576 bytes): the threads get these calls directly.
 */
import {assemble, OP, repeat} from "../estimates/bytecode.ts";
import {codeCalls} from "./codeCalls.ts";
import {frameCalls} from "./frameCalls.ts";
import {type HostileCall, hostile, LONGEST_CODE} from "./hostileCall.ts";
import {memoryCalls} from "./memoryCalls.ts";
import {precompileCalls} from "./precompileCalls.ts";

function storeCalls(): readonly HostileCall[] {
  return [
    hostile(
      "SLOAD of cold slots, straight on",
      assemble(repeat(assemble(OP.PC, OP.SLOAD, OP.POP), LONGEST_CODE)),
    ),
    hostile("SSTORE of fresh slots", repeat(assemble(OP.PC, OP.PC, OP.SSTORE), LONGEST_CODE)),
    hostile("SSTORE of one slot, straight on", repeat(assemble(OP.PC, 1n, OP.SSTORE), LONGEST_CODE)),
    hostile("TSTORE of fresh slots", repeat(assemble(OP.PC, OP.PC, OP.TSTORE), LONGEST_CODE)),
    hostile("BLOCKHASH, straight on", repeat(assemble(0n, OP.BLOCKHASH, OP.POP), LONGEST_CODE)),
  ];
}

export function createHostileCalls(): readonly HostileCall[] {
  return [
    ...codeCalls(),
    ...memoryCalls(),
    ...frameCalls(),
    ...storeCalls(),
    ...precompileCalls(),
    // The transaction itself is long.
    hostile("2.4 MB of call data that compresses badly", assemble(OP.STOP), {
      hardfork: "london",
      data: badlyCompressed(2_400_000),
    }),
  ];
}

/** Near repeats at many distances, which make a compressor search longest. */
function badlyCompressed(bytes: number): Uint8Array {
  const data = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at++) data[at] = at % 259 === 258 ? (at / 259) & 0xff : 0;
  return data;
}
