/** Loops and code without loops, with the opcodes that take longest for their gas. */
import {assemble, loopForever, OP, pushWidth, repeat} from "../estimates/bytecode.ts";
import {
  ENDLESS,
  GROW,
  type HostileCall,
  hostile,
  LONGEST_CODE,
  MAX_WORD,
  MUCH_MEMORY,
} from "./hostileCall.ts";

export function codeCalls(): readonly HostileCall[] {
  return [
    hostile("an empty loop", loopForever(), ENDLESS),
    hostile("a loop of pushes and pops", loopForever(...new Array(400).fill(assemble(1n, OP.POP)))),
    hostile("24 KB of JUMPDESTs in a loop", loopForever(repeat(Uint8Array.of(OP.JUMPDEST), 24_570)), ENDLESS),
    hostile("2.4 MB of JUMPDESTs in a loop", loopForever(repeat(Uint8Array.of(OP.JUMPDEST), LONGEST_CODE))),
    hostile("2.4 MB of JUMPDESTs, run through once", repeat(Uint8Array.of(OP.JUMPDEST), LONGEST_CODE)),
    hostile(
      "2.4 MB of PUSH32 and POP, run through once",
      repeat(assemble(pushWidth(1n, 32), OP.POP), LONGEST_CODE),
    ),
    hostile(
      "2.4 MB of PUSH1 to be analysed again and again, by calls of itself",
      assemble(
        0n,
        0n,
        OP.JUMPI,
        0n,
        0n,
        0n,
        0n,
        0n,
        OP.ADDRESS,
        OP.GAS,
        OP.CALL,
        OP.STOP,
        repeat(assemble(1n), LONGEST_CODE),
      ),
    ),
    hostile(
      "2.4 MB of ISZERO, run through once",
      assemble(0n, repeat(Uint8Array.of(OP.ISZERO), LONGEST_CODE)),
    ),
    hostile(
      "2.4 MB of MULMOD of large numbers",
      assemble(
        MAX_WORD,
        MAX_WORD,
        repeat(assemble(OP.DUP2, OP.DUP2, OP.DUP2, OP.MULMOD, OP.POP), LONGEST_CODE),
      ),
    ),
    hostile(
      "2.4 MB of EXP with the largest exponents",
      assemble(MAX_WORD, repeat(assemble(OP.DUP1, OP.DUP1, OP.EXP, OP.POP), LONGEST_CODE)),
    ),
    hostile(
      "KECCAK256 over 4 MB, straight on",
      assemble(GROW, repeat(assemble(pushWidth(MUCH_MEMORY, 3), 0n, OP.KECCAK256, OP.POP), 100_000)),
    ),
    hostile(
      "KECCAK256 over 100 KB, straight on",
      assemble(
        1n,
        100_000n,
        OP.MSTORE,
        repeat(assemble(pushWidth(100_000n, 3), 0n, OP.KECCAK256, OP.POP), LONGEST_CODE),
      ),
    ),
    hostile("KECCAK256 over 4 MB in a loop", loopForever(MUCH_MEMORY, 0n, OP.KECCAK256, OP.POP)),
  ];
}
