/** Memory that grows, and memory that is copied: within the call, to other calls, back from them and into logs. */
import {assemble, loopForever, OP, pushWidth, repeat} from "../estimates/bytecode.ts";
import {
  callPrecompile,
  GROW,
  HELPER_ADDRESS,
  type HostileCall,
  hostile,
  LONGEST_CODE,
  loopAt,
  MAX_WORD,
  MUCH_MEMORY,
} from "./hostileCall.ts";

export function memoryCalls(): readonly HostileCall[] {
  return [
    hostile("memory that grows by a word", loopForever(1n, OP.MSIZE, OP.MSTORE)),
    hostile(
      "memory that grows by 8 KB, straight on",
      repeat(assemble(1n, OP.MSIZE, 8190n, OP.ADD, OP.MSTORE), 100_000),
    ),
    hostile(
      "MCOPY of 4 MB",
      assemble(GROW, repeat(assemble(pushWidth(MUCH_MEMORY, 3), 0n, 1n, OP.MCOPY), 100_000)),
    ),
    hostile(
      "CODECOPY of 2 MB, straight on",
      assemble(repeat(assemble(pushWidth(2_000_000n, 3), 0n, 0n, OP.CODECOPY), LONGEST_CODE)),
    ),
    hostile("EXTCODECOPY of 24 KB in a loop", loopForever(24_000n, 0n, 0n, HELPER_ADDRESS, OP.EXTCODECOPY), {
      helper: repeat(Uint8Array.of(OP.JUMPDEST), 24_000),
    }),
    hostile(
      "EXTCODECOPY of 24 KB, straight on",
      repeat(assemble(24_000n, 0n, 0n, HELPER_ADDRESS, OP.EXTCODECOPY), LONGEST_CODE),
      {helper: repeat(Uint8Array.of(OP.JUMPDEST), 24_000)},
    ),
    hostile(
      "returned data of 2 MB, again and again",
      loopForever(0n, 0n, 0n, 0n, HELPER_ADDRESS, 12_000_000n, OP.STATICCALL, OP.POP),
      {helper: assemble(2_000_000n, 0n, OP.RETURN)},
    ),
    hostile(
      "revert data of 2 MB, again and again",
      loopForever(0n, 0n, 0n, 0n, HELPER_ADDRESS, 12_000_000n, OP.STATICCALL, OP.POP),
      {helper: assemble(2_000_000n, 0n, OP.REVERT)},
    ),
    hostile(
      "calls with 4 MB of input to an account without code",
      assemble(GROW, repeat(callPrecompile(0xdeadn, MUCH_MEMORY), LONGEST_CODE)),
    ),
    hostile(
      "calls with 4 MB of input and more value than there is",
      assemble(
        GROW,
        repeat(
          assemble(0n, 0n, MUCH_MEMORY, 0n, MAX_WORD, HELPER_ADDRESS, 0n, OP.CALL, OP.POP),
          LONGEST_CODE,
        ),
      ),
    ),
    hostile(
      "4 MB through the identity precompile",
      assemble(GROW, loopAt(callPrecompile(4n, MUCH_MEMORY), GROW.length)),
    ),
    hostile("logs of 100 KB", loopForever(100_000n, 0n, OP.LOG0)),
    hostile("logs of nothing", loopForever(0n, 0n, OP.LOG0)),
    hostile(
      "logs of nothing, and calls that pass them on",
      loopForever(
        ...new Array(20).fill(assemble(0n, 0n, OP.LOG0)),
        ...new Array(20).fill(assemble(0n, 0n, 0n, 0n, HELPER_ADDRESS, 0n, OP.STATICCALL, OP.POP)),
      ),
      {helper: assemble(OP.STOP)},
    ),
  ];
}
