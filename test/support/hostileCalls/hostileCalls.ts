/**
 * Calls made to keep a worker busy, as much of each as 50 million gas buys, and calls that end by themselves beside them.
 *
 * The code is put in place by override, so it may be longer than what a chain would hold: up to 2.4 MB of it come in
 * with one request of 5 MiB.
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
    // A transaction that is long itself.
    hostile("2.4 MB of call data that compresses badly", assemble(OP.STOP), {
      hardfork: "london",
      data: badlyCompressed(2_400_000),
    }),
  ];
}

/** Near repeats at many distances, for which a compressor searches longest. */
function badlyCompressed(bytes: number): Uint8Array {
  const data = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at++) data[at] = at % 259 === 258 ? (at / 259) & 0xff : 0;
  return data;
}
