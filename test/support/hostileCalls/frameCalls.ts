/** Calls within calls and creations within creations: recursion, and code that must be analysed. */
import {assemble, loopForever, OP, type Part, repeat, withMemory} from "../estimates/bytecode.ts";
import {ENDLESS, HELPER_ADDRESS, type HostileCall, hostile} from "./hostileCall.ts";

const LONGEST_INITCODE = 49_152;

export function frameCalls(): readonly HostileCall[] {
  return [
    hostile("recursion, straight down", callSelf(assemble())),
    hostile(
      "recursion that branches twice at every level",
      assemble(callSelf(assemble()), callSelf(assemble())),
      ENDLESS,
    ),
    hostile(
      "recursion with 100 KB of memory at every level",
      assemble(callSelf(assemble(1n, 100_000n, OP.MSTORE)), callSelf(assemble())),
    ),
    hostile(
      "recursion with 100 KB of memory and input at every level",
      assemble(
        1n,
        100_000n,
        OP.MSTORE,
        0n,
        0n,
        100_000n,
        0n,
        0n,
        OP.ADDRESS,
        OP.GAS,
        OP.CALL,
        callSelf(assemble()),
      ),
    ),
    hostile(
      "CREATE2 of 48 KB of JUMPDESTs",
      withMemory(
        repeat(Uint8Array.of(OP.JUMPDEST), LONGEST_INITCODE),
        assemble(OP.JUMPDEST, create2(BigInt(LONGEST_INITCODE)), 11n, OP.JUMP),
      ),
    ),
    hostile(
      "CREATE2 of 48 KB of PUSH1 to be analysed",
      withMemory(
        assemble(0n, 0n, OP.JUMPI, OP.STOP, repeat(assemble(1n), LONGEST_INITCODE - 6)),
        assemble(OP.JUMPDEST, create2(BigInt(LONGEST_INITCODE)), 11n, OP.JUMP),
      ),
    ),
    hostile(
      "CREATE of 2 MB of PUSH1 to be analysed, before EIP-3860",
      withMemory(
        assemble(0n, 0n, OP.JUMPI, OP.STOP, repeat(assemble(1n), 2_000_000)),
        assemble(OP.JUMPDEST, assemble(2_000_000n, 0n, 0n, OP.CREATE, OP.POP), 11n, OP.JUMP),
      ),
      {hardfork: "london"},
    ),
    hostile(
      "creations of empty accounts, and calls that pass them on",
      loopForever(
        ...new Array(5).fill(assemble(0n, 0n, 0n, OP.CREATE, OP.POP)),
        ...new Array(20).fill(assemble(0n, 0n, 0n, 0n, HELPER_ADDRESS, 0n, OP.STATICCALL, OP.POP)),
      ),
      {helper: assemble(OP.STOP)},
    ),
    hostile(
      "creation with 1.2 MB of PUSH1 as its code",
      assemble(0n, 0n, OP.JUMPI, OP.STOP, repeat(assemble(1n), 1_200_000)),
      {hardfork: "london", isCreation: true},
    ),
  ];
}

/** Runs `before`, then the same code again with `gas`. */
function callSelf(before: Uint8Array, gas: Part = OP.GAS): Uint8Array {
  return assemble(before, 0n, 0n, 0n, 0n, 0n, OP.ADDRESS, gas, OP.CALL);
}

/** CREATE2 of the first `bytes` of memory. The remaining gas is the salt. */
function create2(bytes: bigint): Uint8Array {
  return assemble(OP.GAS, bytes, 0n, 0n, OP.CREATE2, OP.POP);
}
