/** The precompile that the run waits for: the host runs it. */

/** 0: none. Its gas is that of the current frame. */
export let awaited: u32 = 0;
export let awaitedInput: usize = 0;
export let awaitedBytes: u32 = 0;

export function awaitPrecompile(address: u32, input: usize, bytes: u32): void {
  awaited = address;
  awaitedInput = input;
  awaitedBytes = bytes;
}
