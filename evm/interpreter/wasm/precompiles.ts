/** Calls of precompiles. The identity precompile runs here, the others in the host, while the run waits. */
import {OUT_OF_GAS, RUNNING, SUCCESS} from "./layout";
import {IDENTITY_GAS, IDENTITY_WORD_GAS} from "./params";
import {setReturned} from "./returned";
import {addWork} from "./run";

const IDENTITY: u32 = 4;

/** Gas of the last precompile that succeeded. */
export let precompileGas: i64 = 0;

/** The precompile that the run waits for; 0: none. Its gas is that of the current frame. */
export let awaited: u32 = 0;
export let awaitedInput: usize = 0;
export let awaitedBytes: u32 = 0;

export function awaitPrecompile(address: u32, input: usize, bytes: u32): void {
  awaited = address;
  awaitedInput = input;
  awaitedBytes = bytes;
}

/** Writes the output to returned.ts. @returns how the precompile ends; RUNNING if the host must run it */
export function runPrecompile(address: u32, input: usize, bytes: u32, gas: i64): u32 {
  if (address != IDENTITY) return RUNNING;
  const words = (<i64>bytes + 31) >> 5;
  precompileGas = IDENTITY_GAS + IDENTITY_WORD_GAS * words;
  if (precompileGas > gas) return OUT_OF_GAS;
  addWork(words >> 3);
  setReturned(input, bytes);
  return SUCCESS;
}
