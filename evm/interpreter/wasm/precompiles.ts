/** The precompiles: hashes and copies here. The others are the host's, and may take it a while: the run waits for them. */
import {OUT_OF_GAS, RUNNING, SUCCESS} from "./layout";
import {
  identityGas,
  identityWordGas,
  ripemd160Gas,
  ripemd160WordGas,
  sha256Gas,
  sha256WordGas,
} from "./params";
import {reserveReturned, setReturned} from "./returned";
import {ripemd160} from "./ripemd160";
import {addWork} from "./run";
import {sha256} from "./sha256";

const SHA256: u32 = 2;
const RIPEMD160: u32 = 3;
const IDENTITY: u32 = 4;

/** A word that is hashed takes as long as 2 to this power steps. */
const HASH_STEPS: i64 = 5;

/** Gas of the last precompile that succeeded. */
export let precompileGas: i64 = 0;

/** What the run waits for; 0: nothing. Its gas is the current frame's. */
export let awaited: u32 = 0;
export let awaitedInput: usize = 0;
export let awaitedBytes: u32 = 0;

export function awaitPrecompile(address: u32, input: usize, bytes: u32): void {
  awaited = address;
  awaitedInput = input;
  awaitedBytes = bytes;
}

/** The output is what was returned (returned.ts). @returns how it ends; RUNNING: it is the host's */
export function runPrecompile(address: u32, input: usize, bytes: u32, gas: i64): u32 {
  const words = (<i64>bytes + 31) >> 5;
  if (address == SHA256) {
    precompileGas = sha256Gas() + sha256WordGas() * words;
    if (precompileGas > gas) return OUT_OF_GAS;
    addWork(words << HASH_STEPS);
    sha256(reserveReturned(32), input, bytes);
  } else if (address == RIPEMD160) {
    precompileGas = ripemd160Gas() + ripemd160WordGas() * words;
    if (precompileGas > gas) return OUT_OF_GAS;
    addWork(words << HASH_STEPS);
    const to = reserveReturned(32);
    memory.fill(to, 0, 12);
    ripemd160(to + 12, input, bytes);
  } else if (address == IDENTITY) {
    precompileGas = identityGas() + identityWordGas() * words;
    if (precompileGas > gas) return OUT_OF_GAS;
    addWork(words >> 3);
    setReturned(input, bytes);
  } else return RUNNING;
  return SUCCESS;
}
