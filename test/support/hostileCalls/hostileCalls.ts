/**
 * Calls that keep a worker busy on purpose, each with as much work as 50 million gas buys. Some of them end by themselves.
 *
 * The code comes as an override. Some of it is longer than the front takes (24 576 bytes): the threads get these calls directly.
 */
import {assemble, OP} from "../estimates/bytecode.ts";
import {codeCalls} from "./codeCalls.ts";
import {frameCalls} from "./frameCalls.ts";
import {type HostileCall, hostile} from "./hostileCall.ts";
import {memoryCalls} from "./memoryCalls.ts";
import {precompileCalls} from "./precompileCalls.ts";
import {storeCalls} from "./storeCalls.ts";

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
