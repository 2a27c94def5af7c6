/** Slots, accounts and blocks read from the store, and slots written. */
import {assemble, OP, repeat} from "../estimates/bytecode.ts";
import {type HostileCall, hostile, LONGEST_CODE} from "./hostileCall.ts";

export function storeCalls(): readonly HostileCall[] {
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
